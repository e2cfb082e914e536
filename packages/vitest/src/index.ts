export {
  type Custody,
  custody,
  type ExecOptions,
  type ExecResult,
  type Inspection,
  type Namespace,
  type OpenedNamespace,
  type Receipt,
  type Verdict,
} from '@custody/core/worker'
