/** Policies as documents, for tests of the command line. */
import { documentsText } from '../rig/stack-folder.ts';

export interface PolicyParts {
  readonly severity?: string;
  readonly rule?: string;
  readonly [member: string]: unknown;
}

export function policy(name: string, spec: PolicyParts = {}): object {
  return {
    apiVersion: 'trueup.dev/v1',
    kind: 'Policy',
    metadata: { name },
    spec: { severity: 'deny', rule: 'false', ...spec },
  };
}

export function policiesText(...policies: readonly object[]): string {
  return documentsText(policies);
}

/** Members of `spec` of a stack with policies in the folder `policies`. */
export const withPolicies = { policies: { files: ['policies/*.yaml'] } };
