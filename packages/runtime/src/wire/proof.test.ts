import { expect, test } from 'vitest'
import { frameMac, isNonce, isSameHex, lengthPrefixed, serverProof, sessionKey } from './proof.js'

const token = Buffer.alloc(32)
const nc = '11'.repeat(32)
const ns = '22'.repeat(32)
const endpoint = 'unix:/tmp/custody-0/s/a.sock'

test('gives the test vector of docs/protocol.md', () => {
  expect(serverProof(token, nc, ns, endpoint)).toBe('807135dd54f80ee3a57dda29e6e33a703169303ab35c6e9e070be77c45359f74')
  const key = sessionKey(token, nc, ns, endpoint)
  expect(key.toString('hex')).toBe('04dca0d2470a450e7878890599dae20e6565def2d42651dc763661436bb40a11')
  const body = '{"jsonrpc":"2.0","id":1,"method":"identify","params":{}}'
  expect(frameMac(key, 'c2s', 0, body)).toBe('a0db2117473d7fd3b565ee927e7b11828051bfc2b27c5590f368dfe30bdc2bab')
})

test('counts the length of a part in bytes, not in characters', () => {
  expect([...lengthPrefixed('ä', '')]).toEqual([0, 0, 0, 2, 0xc3, 0xa4, 0, 0, 0, 0])
})

test('gives different bytes for every way to cut a text into parts', () => {
  const cuts = [['serverab'], ['server', 'ab'], ['servera', 'b'], ['serverab', ''], ['', 'serverab'], ['server', '', 'ab']]
  expect(new Set(cuts.map((parts) => lengthPrefixed(...parts).toString('hex'))).size).toBe(cuts.length)
})

test('gives another proof for another token, nonce, or endpoint, and for swapped nonces', () => {
  const proofs = [
    serverProof(token, nc, ns, endpoint),
    serverProof(Buffer.alloc(32, 1), nc, ns, endpoint),
    serverProof(token, '33'.repeat(32), ns, endpoint),
    serverProof(token, nc, '33'.repeat(32), endpoint),
    serverProof(token, ns, nc, endpoint),
    serverProof(token, nc, ns, 'unix:/tmp/custody-0/s//a.sock'),
    sessionKey(token, nc, ns, endpoint).toString('hex'),
  ]
  expect(new Set(proofs).size).toBe(proofs.length)
})

test('compares hex texts of any kind without throwing', () => {
  expect(isSameHex('aa', 'aa')).toBe(true)
  for (const given of ['ab', 'AA', 'a', 'aaa', 'ää', '', null, undefined, 170, ['aa']]) expect(isSameHex('aa', given)).toBe(false)
})

test('takes only 64 lower-case hex digits for a nonce', () => {
  expect(isNonce(nc)).toBe(true)
  for (const value of ['', nc.slice(1), `${nc}1`, 'A'.repeat(64), 'g'.repeat(64), `${nc}\n`, 11, null, [nc]])
    expect(isNonce(value)).toBe(false)
})
