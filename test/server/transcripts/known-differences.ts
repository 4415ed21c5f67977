/**
 * Where the service answers differently from the recorded server, and why that is right. The recorded server is another implementation
 * than the real one: its answers are expected unless the specification or docs/internals/wire/workspaces.md says something else.
 */
import type { Exchange } from '../../support/server/transcripts/transcript.ts';

interface KnownDifference {
  readonly because: string;
  /** The exact number of these answers: one more or one less is an error. */
  readonly count: number;
  /** The class of our status; 2 by default. */
  readonly answered?: number;
  readonly fits: (transcript: string, exchange: Exchange) => boolean;
}

const plain404 = ({ answer }: Exchange): boolean =>
  answer.status === 404 && (answer.headers['Content-Type'] ?? '').startsWith('text/plain');

const step =
  (transcript: RegExp, name: string, method: string) =>
  (of: string, { step: found, request }: Exchange): boolean =>
    transcript.test(of) && found === name && request.method === method;

/** Answers with another class of status. The first one that fits applies. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    because:
      'the other server lacks the endpoint, and says so in plain text; it is one of wire/workspaces 5.1 or 6.1, or of wire/audit-trails 1.1',
    count: 118,
    fits: (_, exchange) => plain404(exchange),
  },
  {
    because:
      'the other server cannot include effective tag bindings, and finds nothing then (wire/workspaces 1.4)',
    count: 2,
    fits: step(/^go-tfe-workspaces/, 'read-include', 'GET'),
  },
  {
    because:
      'the other server fails to remove a repository that is not there; null removes it (wire/workspaces 2.1)',
    count: 2,
    fits: step(/^go-tfe-workspaces/, 'remove-vcs', 'PATCH'),
  },
  {
    because: 'a safe delete did it before, which the other server lacks (wire/workspaces 5.1)',
    count: 1,
    answered: 4,
    fits: step(/^go-tfe-workspaces$/, 'delete-by-name', 'DELETE'),
  },
  {
    because: 'a body may leave out the type of its resource (wire/workspaces 1.5.21)',
    count: 2,
    fits: (_, { request }) =>
      request.method === 'POST' &&
      request.path.endsWith('/ssh-keys') &&
      !JSON.stringify(request.body).includes('"type"'),
  },
  {
    because:
      'the other server failed to keep a state that comes inside of the document (wire/workspaces 6.3)',
    count: 1,
    fits: step(/^go-tfe-state-versions/, 'create', 'POST'),
  },
  {
    because: 'the state that the other server failed to keep is there (wire/workspaces 6.3)',
    count: 1,
    fits: step(/^go-tfe-state-versions/, 'current', 'GET'),
  },
];

/** Members that the other server shows and this one does not, with the reason: `type.member`, and all members below it. */
export const notShown: Readonly<Record<string, string>> = {
  'agent-pools.allowed-workspaces': 'every pool is for the whole organization here',
  'agent-pools.workspaces': 'a workspace links to its pool, but a pool links to no workspaces',
  'applies.status-timestamps': 'an apply has no times of its own here: its run has',
  'plans.status-timestamps': 'a plan has no times of its own here: its run has',
  'configuration-versions.status-timestamps': 'only the status itself is kept',
  'entitlement-sets.sentinel': 'the specification has no names of products, and calls it policy-enforcement',
  'organizations.collaborator-auth-policy': 'logins of users are not served here',
  'organizations.owners-team-saml-role-id': 'logins of users are not served here',
  'organizations.permissions': 'permissions for what is not served here are left out',
  'organizations.remaining-testable-count': 'modules are not served here',
  'organizations.saml-enabled': 'logins of users are not served here',
  'organizations.session-remember': 'logins of users are not served here',
  'organizations.session-timeout': 'logins of users are not served here',
  'organizations.trial-expires-at': 'there are no subscriptions that end',
  'organizations.two-factor-conformant': 'logins of users are not served here',
  'runs.allow-empty-apply': 'no engine runs here',
  'runs.cost-estimate': 'nothing is estimated',
  'runs.execution-mode': 'the one of the workspace applies',
  'runs.force-cancel-available-at': 'no run lasts so long',
  'runs.permissions': 'permissions for what is not served here are left out',
  'runs.position-in-queue': 'no run waits for others than those of its workspace',
  'runs.refresh': 'no engine runs here',
  'runs.refresh-only': 'no engine runs here',
  'runs.status-timestamps': 'only the statuses that a run was in',
  'runs.terraform-version': 'no engine runs here',
  'runs.variables': 'no engine runs here',
  'ssh-keys.updated-at': 'keys have the time of their creation only',
  'state-versions.state-version': 'of a state, resources and outputs are read',
  'state-versions.terraform-version': 'of a state, resources and outputs are read',
  'state-versions.vcs-commit-sha': 'no engine runs here that would know',
  'workspaces.agent-pool-id': 'written as an attribute, read as a relationship (wire/workspaces 2.1)',
  'workspaces.can-queue-destroy-plan': 'permissions.can-queue-destroy tells it',
  'workspaces.migration-environment': 'a name of the past, which no client of today reads',
  'workspaces.ssh-key': 'absent while none is assigned (wire/workspaces 1.5.14)',
};
