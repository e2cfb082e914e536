// What stands in the place of these globals in what a worker loads later: by then a test may have put others there.
import { Buffer } from 'node:buffer'
import process from 'node:process'

export { Buffer, process }
