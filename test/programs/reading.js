// Reads a locator, and says of whom it is or why it is none.
import { readLocator } from '@custody/runtime'

try {
  console.log(`read ${readLocator(process.argv[2]).name}`)
} catch (error) {
  console.log(`refused ${error.code}: ${error.facts.reason}`)
}
