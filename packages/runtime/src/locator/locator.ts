import type { Identity } from '../identity.js'
import { parseEndpoint } from '../wire/endpoint.js'
import { isObject, type JsonValue, parseJson } from '../wire/json.js'

/** The small file that a runtime publishes to say how to reach it. docs/protocol.md specifies it. */
export interface Locator extends Identity {
  version: 1
  /** What the runtime calls itself, for people. */
  name: string
  /** 32 hex digits, new for each start. */
  instance: string
  /** The namespace it was born in, or null outside of every namespace. */
  namespace: string | null
  /** Where it listens, as one exact string. */
  endpoint: string
  /** 64 hex digits: the shared secret. It stands nowhere else and never travels. */
  token: string
  /** ISO 8601, by the wall clock. For people only. */
  created: string
  /** The product's own, for its own clients. */
  details: Readonly<Record<string, JsonValue>>
  /** Only in the copy that a registry holds: the frozen path of the locator itself. */
  path?: string
}

/** A locator and its details may have this many bytes. */
export const LOCATOR_BYTES: number = 16 * 1024
export const DETAILS_BYTES: number = 4 * 1024

/** A namespace's id is part of a file's name. */
const NAMESPACE_LENGTH = 200

const NAMESPACE = /^[0-9a-f]{32}(?:\.[0-9A-Za-z]+)*$/

export function isNamespaceId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= NAMESPACE_LENGTH && NAMESPACE.test(value)
}

const fieldRules: Readonly<Record<Exclude<keyof Locator, 'path'>, (value: unknown) => boolean>> = {
  version: (value) => value === 1,
  name: (value) => typeof value === 'string' && value.length > 0 && value.length <= 128,
  pid: (value) => Number.isSafeInteger(value) && (value as number) > 0,
  start: isTextOrNull,
  boot: isTextOrNull,
  pidns: isTextOrNull,
  timens: isTextOrNull,
  instance: (value) => typeof value === 'string' && /^[0-9a-f]{32}$/.test(value),
  namespace: (value) => value === null || isNamespaceId(value),
  endpoint: (value) => typeof value === 'string' && parseEndpoint(value) !== null,
  token: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  created: (value) => typeof value === 'string' && value.length <= 64,
  details: isObject,
}

/** Fields shared by a locator and by what a runtime says of itself; used to check both by one rule. */
export function isFieldValid(field: keyof typeof fieldRules, value: unknown): boolean {
  return fieldRules[field](value)
}

/** The locator in a text, or what is wrong with it. Fields that it does not know are left out. */
export function parseLocator(text: string): { locator: Locator } | { problem: string } {
  const value = parseJson(text)
  if (!isObject(value)) return { problem: 'it is not a JSON object' }
  const fields = Object.keys(fieldRules) as (keyof typeof fieldRules)[]
  for (const field of fields) {
    if (!(field in value)) return { problem: `the field "${field}" is missing` }
    if (!isFieldValid(field, value[field])) return { problem: `the field "${field}" is malformed` }
  }
  const locator = Object.fromEntries(fields.map((field) => [field, value[field]])) as unknown as Locator
  return { locator: typeof value['path'] === 'string' ? { ...locator, path: value['path'] } : locator }
}

function isTextOrNull(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value.length > 0 && value.length <= 128)
}
