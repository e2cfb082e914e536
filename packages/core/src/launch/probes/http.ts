import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { URL } from 'node:url'
import { isOwn } from './port.js'
import { type Probe, type ProbeContext, retry } from './probe.js'

/** One request may take this long, in milliseconds: a server that accepts and never answers is asked again. */
const REQUEST_MS = 2_000

// Taken now: tools that fake the network replace them later.
const requests = { 'http:': requestHttp, 'https:': requestHttps }

/** Holds when the runtime answers with the right status. */
export function httpProbe(target: string | { readonly url: string; readonly status?: number | readonly number[] }): Probe {
  const { url, status } = typeof target === 'string' ? { url: target, status: undefined } : target
  const statuses = status === undefined ? null : [status].flat()
  const isRight = (given: number) => (statuses === null ? given >= 200 && given < 400 : statuses.includes(given))
  return (context) => {
    const isRelative = url.startsWith('/')
    const own = new URL(context.url ?? 'http://localhost')
    // A path is one of the runtime's own, on whichever address it listens.
    const targets = isRelative ? context.hosts.map((host) => new URL(url, onHost(own, host))) : [new URL(url)]
    return retry(context, async () => {
      const answers = await Promise.all(targets.map((each) => ask(each, context)))
      context.note(targets.map((each, at) => `${each.href} ${answers[at]}`).join(', '))
      const at = answers.findIndex((answer) => typeof answer === 'number' && isRight(answer))
      if (at < 0 || (isRelative && !isOwn(context, Number(own.port)))) return false
      if (isRelative) context.answered(context.hosts[at] as string)
      return true
    })
  }
}

function onHost(url: URL, host: string): URL {
  const moved = new URL(url)
  moved.hostname = host.includes(':') ? `[${host}]` : host
  return moved
}

function ask(url: URL, { signal }: ProbeContext): Promise<number | string> {
  return new Promise((resolve) => {
    const send = requests[url.protocol as keyof typeof requests]
    if (send === undefined) return resolve('is not http')
    const request = send(url, { agent: false, signal, timeout: REQUEST_MS, headers: { accept: '*/*' } }, (response) => {
      resolve(response.statusCode ?? 0)
      response.resume()
      response.on('error', () => {})
      request.destroy()
    })
    request.on('timeout', () => request.destroy(Object.assign(new Error('no answer'), { code: 'no answer' })))
    // Who is out of time has seen that it does not answer.
    request.on('error', (error: NodeJS.ErrnoException) => resolve(signal.aborted ? 'no answer' : (error.code ?? error.message)))
    request.end()
  })
}
