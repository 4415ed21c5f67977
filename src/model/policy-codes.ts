/** Codes of policies: their files, their rules, and their exemptions. */
import type { CodeTable } from './code-entry.ts';

export const policyCodes = {
  'policies-unreadable': {
    title: 'Policies that the stack names cannot be read, or there are none',
    class: ['failure', 'invalid'],
    fix: 'correct "spec.policies", or let the run read the remote that it names; without its policies nothing is planned',
  },
  'policy-expression': {
    title: 'The rule or the message of a policy is not valid',
    class: 'invalid',
    fix: 'correct the expression; the variables and their members are in docs/guides/policies.md',
  },
  'exemption-end': {
    title: 'The end of an exemption is not a valid date, or is too far away',
    class: 'invalid',
    fix: 'give a day at most 90 days from now',
  },
  'exemption-ends': {
    title: 'An exemption from a policy ends within 14 days',
    class: 'failure',
    warning: true,
    fix: 'change the resource so that it follows the policy, or let its owners renew the exemption',
  },
  'exemption-unused': {
    title: 'An exemption from a policy is about no resource',
    class: 'failure',
    warning: true,
    fix: 'correct the address of the exemption',
  },
  'exemption-ended': {
    title: 'An exemption from a policy has ended since the plan was approved',
    class: 'failure',
    fix: 'change the resource so that it follows the policy, or renew the exemption; then plan again',
  },
  'policy-denies': {
    title: 'A policy denies the plan',
    class: 'failure',
    fix: 'change what violates the policy, or ask its owners; it cannot be acknowledged',
  },
  'policy-tests': {
    title: 'Tests of policies fail',
    class: 'failure',
    fix: 'correct the rule, or what the test expects',
  },
} as const satisfies CodeTable;
