import { createCluster, removeCluster } from './cluster.js'

/** Once per run. What it returns is Vitest's global teardown; Jest has a file for that. */
export default function setup() {
  createCluster()
  return removeCluster
}
