/** Codes of problems that a kind finds in one resource. Several kinds may use the same code, so none is named here. */
import type { CodeTable } from './code-entry.ts';

export const kindCodes = {
  // how a resource is run
  'two-connections': {
    title: 'A repository has two connections, of which only one is possible',
    class: 'invalid',
    fix: 'keep the connection that you use',
  },
  'vcs-repo-incomplete': {
    title: 'The settings of a repository that would be added are incomplete',
    class: 'invalid',
    fix: 'give its identifier and how it is connected',
  },
  'bad-duration': {
    title: 'A text is not a duration that the service accepts',
    class: 'invalid',
    fix: 'write it like "14d" or "36h"',
  },
  'bad-timestamp': {
    title: 'A text is not a timestamp',
    class: 'invalid',
    fix: 'write it like "2030-01-31T08:00:00Z"',
  },
  'operations-with-mode': {
    title: 'The deprecated "operations" is set together with "executionMode"',
    class: 'invalid',
    fix: 'remove "operations"',
  },
  'assessments-without-remote': {
    title: 'Health assessments need the execution mode remote',
    class: 'invalid',
    fix: 'write "executionMode: remote", or leave "assessmentsEnabled" out',
  },
  'absolute-directory': {
    title: 'A working directory is an absolute path, which the service refuses',
    class: 'invalid',
    fix: 'write it without the leading "/"',
  },
  'not-in-edition': {
    title: 'A field is declared that the hosted edition of the service does not have',
    class: 'invalid',
    fix: 'remove the field',
  },
  'foreign-agent-pool': {
    title: 'An agent pool does not belong to the organization',
    class: 'invalid',
    fix: 'write the id of an agent pool of this organization',
  },
  'bad-engine-version': {
    title: 'A text is neither a version nor a version constraint',
    class: 'invalid',
    fix: 'write it like "1.9.8" or "~> 1.9.0"',
  },
  'agent-pool-missing': {
    title: 'The execution mode needs an agent pool, and there is none',
    class: 'invalid',
    fix: 'add "agentPool" or "agentPoolId", or inherit the pool',
  },
  'agent-pool-without-agent': {
    title: 'An agent pool is given to a mode without agents',
    class: 'invalid',
    fix: 'write "executionMode: agent", or remove the pool',
  },
  'agent-pool-inherited': {
    title: 'An agent pool is given, and "settingOverwrites" says that it is inherited',
    class: 'invalid',
    fix: 'remove one of the two',
  },
  'agent-pool-without-mode': {
    title: 'A workspace has its own agent pool, but inherits its execution mode',
    class: 'invalid',
    fix: 'inherit both, or give both',
  },
  'execution-mode-missing': {
    title: 'A workspace has its own execution mode, but none is given',
    class: 'invalid',
    fix: 'add "executionMode", or inherit it',
  },
  'execution-mode-inherited': {
    title: 'An execution mode is given, and "settingOverwrites" says that it is inherited',
    class: 'invalid',
    fix: 'remove one of the two',
  },
  'two-triggers': {
    title: 'Runs would be started in two ways that exclude each other',
    class: 'invalid',
    fix: 'keep the one that should start runs',
  },
  'regex-with-file-triggers': {
    title: 'File triggers are on together with "tagsRegex"',
    class: 'invalid',
    fix: 'turn file triggers off, or remove "tagsRegex"',
  },
  'file-triggers-derived': {
    title: 'File triggers contradict the lists of triggers, from which the service derives them',
    class: 'invalid',
    fix: 'declare the value that follows from the lists, or leave "fileTriggersEnabled" out',
  },
  // tags
  'bad-tag': {
    title: 'A tag has a key or value that the service refuses',
    class: 'invalid',
    fix: 'use only the allowed characters and length',
  },
  'bad-tag-name': {
    title: 'A text is not a valid flat tag',
    class: 'invalid',
    fix: 'use letters, digits, ":", "-" and "_", with a letter or digit at both ends',
  },
  'duplicate-tag': {
    title: 'A flat tag is given twice',
    class: 'invalid',
    fix: 'remove one of the two',
  },
  'too-many-tags': {
    title: 'There would be more tags than the service allows',
    class: 'invalid',
    fix: 'declare fewer, keep fewer, or use flat tags',
  },
  'reserved-tag': {
    title: 'A tag key belongs to the service',
    class: 'invalid',
    fix: 'use another key',
  },
  'creator-mark-declared': {
    title: 'A source name is a creator mark, which only trueup writes',
    class: 'invalid',
    fix: 'remove the line, or use another name',
  },
  'claim-as-tag': {
    title: 'A tag has the key of the ownership tag, which only trueup writes',
    class: 'invalid',
    fix: 'remove the tag',
  },
  'tags-unread': {
    title: 'Tags could not be read, so no change of them can be planned',
    class: 'incomplete',
    fix: 'let the token read them; if the list of workspaces was incomplete, plan again',
  },
  'no-claims': {
    title: 'The service keeps no ownership tags, so a workspace cannot show which stack owns it',
    class: 'invalid',
    fix: 'set "ownership: ledger" for the target',
  },
  'no-projects': {
    title: 'A document declares a resource of a kind that the service does not have',
    class: 'invalid',
    fix: 'remove the document',
  },
  'default-project': {
    title: 'The plan would rename a resource that the organization uses by default',
    class: 'conflict',
    fix: 'give the document the name that it has in the service',
  },
  'no-tag-bindings': {
    title: 'Tags are declared, and the service does not support them',
    class: 'invalid',
    fix: 'remove the tags',
  },
  'field-not-available': {
    title: 'The service does not have a declared field, or does not return it',
    class: 'invalid',
    warning: true,
    fix: 'remove the field, or let the token read it if the service has it',
  },
  'no-room-for-claim': {
    title: 'There are as many tags as the service allows, so there is no room for the ownership tag',
    class: 'conflict',
    fix: 'remove one in the service first',
  },
  // who may read a state
  'consumers-while-global': {
    title: 'Consumers are listed for a state that everybody may read',
    class: 'invalid',
    fix: 'turn the global sharing off, or remove the list',
  },
  'consumers-while-project': {
    title: 'Consumers are listed for a state that the whole project may read',
    class: 'invalid',
    fix: 'turn the sharing with the project off in the service, or remove the list',
  },
  'no-consumers': {
    title: 'Consumers are declared, and the service does not support them',
    class: 'invalid',
    fix: 'remove the list',
  },
  'consumer-of-itself': {
    title: 'A workspace is listed as a consumer of its own state',
    class: 'invalid',
    fix: 'remove it from the list',
  },
  'duplicate-consumer': {
    title: 'A consumer is listed twice',
    class: 'invalid',
    fix: 'remove one of the two',
  },
  'consumers-unread': {
    title: 'The consumers of a state could not be read',
    class: 'incomplete',
    fix: 'let the token read them; if the list of workspaces was incomplete, plan again',
  },
  // who may log in
  'empty-names': {
    title: 'No account is listed that may log in',
    class: 'invalid',
    fix: 'list the accounts',
  },
  'empty-namespaces': {
    title: 'Neither namespaces nor a selector of them are given',
    class: 'invalid',
    fix: 'list the namespaces, or set the selector',
  },
  'mixed-wildcard': {
    title: 'A list has "*" together with other values',
    class: 'invalid',
    fix: 'make "*" the only value, or remove it',
  },
  'invalid-selector': {
    title: 'A text is not a selector that the service accepts',
    class: 'invalid',
    fix: 'write a LabelSelector with matchLabels only',
  },
  'invalid-duration': {
    title: 'A text is not a duration',
    class: 'invalid',
    fix: 'write it like "90m"',
  },
  'duration-below-second': {
    title: 'A duration is below a second, which the service stores as no limit',
    class: 'invalid',
    fix: 'write a second or more, or 0',
  },
  'duration-out-of-range': {
    title: 'A duration is longer than the service supports',
    class: 'invalid',
    fix: 'write a shorter one, or 0 for no limit',
  },
  'not-in-dialect': {
    title: 'A field does not exist in the dialect of the target',
    class: 'invalid',
    fix: 'remove the field, or correct the dialect of the target',
  },
  'two-bindings': {
    title: 'Tokens are bound to addresses in two ways that exclude each other',
    class: 'invalid',
    fix: 'remove one of the two',
  },
  'ttl-over-maximum': {
    title: 'A lifetime is greater than its maximum',
    class: 'invalid',
    fix: 'lower the lifetime, or raise the maximum',
  },
  'batch-periodic': {
    title: 'Batch tokens cannot be periodic',
    class: 'invalid',
    fix: 'remove the period, or choose another token type',
  },
  'batch-counted': {
    title: 'Batch tokens cannot have a limited number of uses',
    class: 'invalid',
    fix: 'remove the limit, or choose another token type',
  },
  'invalid-cidr': {
    title: 'A text is neither an IP address nor a CIDR block',
    class: 'invalid',
    fix: 'write it like "10.20.0.0/16" or "10.1.2.3"',
  },
  'policies-twice': {
    title: 'Policies are also given under their deprecated name',
    class: 'invalid',
    fix: 'write "tokenPolicies" only',
  },
  // how logins are checked
  'reviewer-jwt-source': {
    title: 'The reviewer JWT has no source, or two',
    class: 'invalid',
    fix: 'give either "env" or "file"',
  },
  'reviewer-jwt-would-be-wiped': {
    title: 'A write would erase the stored reviewer JWT',
    class: 'invalid',
    fix: 'give its source, or write null to remove it',
  },
  'invalid-ca-cert': {
    title: 'A text contains no certificate',
    class: 'invalid',
    fix: 'give the whole text from "-----BEGIN CERTIFICATE-----" on',
  },
  'invalid-pem-key': {
    title: 'A text contains no public key that the service accepts, or more than one',
    class: 'invalid',
    fix: 'give the whole text from "-----BEGIN" on',
  },
  'private-key': {
    title: 'A manifest contains a private key',
    class: 'invalid',
    fix: 'give the public key or the certificate, and replace the key pair',
  },
  'no-trust-anchor': {
    title: 'There is no certificate or key to verify the cluster with',
    class: 'invalid',
    fix: 'set "clusterCaCert"',
  },
} as const satisfies CodeTable;
