export { removeCluster as default } from './cluster.js'
