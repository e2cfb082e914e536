// B looks for locators where its own daemon would publish. The suite holds whether the directories of namespaces are kept or removed.
export const options = {
  locators: ['home/.greeter/daemon.json'],
  keep: process.env.KEEP ?? 'on-failure',
  report: { json: 'custody-report.json' },
}
