import { connectRuntime, readLocator } from '@custody/runtime'

/** @param {string} locatorPath */
export async function untilDraining(locatorPath) {
  const client = await connectRuntime(readLocator(locatorPath))
  while ((await client.identify()).state === 'serving');
  client.close()
}
