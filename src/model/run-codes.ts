/** Codes of errors that end a run, or some of it, for a reason outside of manifests and plan. */
import type { CodeTable } from './code-entry.ts';

export const runCodes = {
  // the command line
  usage: {
    title: 'The command line is not valid',
    class: 'failure',
    fix: 'run the command with --help to see its arguments and flags',
  },
  'unknown-schema': {
    title: 'There is no schema with this name',
    class: 'failure',
    fix: 'use a name that "trueup schema" lists',
  },
  'unknown-term': {
    title: 'There is no code, guard, kind or field with this name',
    class: 'failure',
    fix: 'use a name that "trueup explain" lists',
  },
  'unknown-apply': {
    title: 'The history has no apply with this id',
    class: 'failure',
    fix: 'use an id that "trueup history" lists',
  },
  'unknown-role': {
    title: 'There is no role with this name, or it is not a valid name',
    class: 'failure',
    fix: 'write the name of the role as in its manifest',
  },
  'target-needed': {
    title: 'Several targets may have a role with this name',
    class: 'failure',
    fix: 'name one of them with --target',
  },
  'unknown-guard': {
    title: 'There is no guard with this name',
    class: 'failure',
    fix: 'write the id as the plan shows it',
  },
  'ack-without-plan': {
    title: 'Guards are acknowledged, but no plan is named',
    class: 'failure',
    fix: 'give the digest with --approve, or the plan file',
  },
  'nobody-to-ask': {
    title: 'The command needs a confirmation, but there is no terminal to ask at',
    class: 'failure',
    fix: 'pass --yes, or an approval if the command accepts one',
  },
  'answer-needed': {
    title: 'A question of "trueup init" has no answer, and there is no terminal to ask at',
    class: 'failure',
    fix: 'pass the flag that the message names',
  },
  'stack-file-needed': {
    title: 'The command needs a stack in a file',
    class: 'failure',
    fix: 'give the path of the stack instead of "-"',
  },
  'whole-stack-needed': {
    title: 'The command needs the whole stack, but was given a selection of it',
    class: 'failure',
    fix: 'run it without "-" and "--select"',
  },
  // files and secrets
  'system-error': {
    title: 'The operating system refused an operation, such as opening a file',
    class: 'failure',
    fix: 'see the message for the file and the reason',
  },
  'files-exist': {
    title: 'Files that a command would write exist already',
    class: 'failure',
    fix: 'move them, or choose other places; an export takes --force, or another --out',
  },
  'output-refused': {
    title: 'The output path names something that must not be overwritten',
    class: 'failure',
    fix: 'give --out the name of a new file, or of an earlier plan',
  },
  'secret-in-ledger': {
    title: 'The ledger contains a secret of this run',
    class: 'failure',
    warning: true,
    fix: 'revoke the secret and use a new one; older commits of a ledger in git still contain it',
  },
  'secret-unreadable': {
    title: 'A secret cannot be read from its source',
    class: 'failure',
    fix: 'set the variable or fill the file that is named',
  },
  'seed-unreadable': {
    title: 'The file of a seed cannot be read, or is not YAML',
    class: 'failure',
    fix: 'correct the path or the file',
  },
  // services
  'request-failed': {
    title: 'A service cannot be reached, or its response cannot be used',
    class: 'failure',
    fix: 'follow the message: it names the request and what to check',
  },
  'proxy-address': {
    title: 'The environment sets a proxy without a valid address',
    class: 'failure',
    fix: 'correct the variable that is named',
  },
  'port-unavailable': {
    title: 'The port to listen on is not available',
    class: 'failure',
    fix: 'choose another with --port, or leave --port out',
  },
  'dialect-not-served': {
    title: 'The embedded service does not have this dialect, or not together with another one',
    class: 'failure',
    fix: 'follow the message: it serves one dialect for each of the two APIs',
  },
  'admin-token-place': {
    title: 'There is no file to write the token of the admin API to',
    class: 'failure',
    fix: 'name a new file with --admin-token-file',
  },
  'tls-files': {
    title: 'The files of --tls-cert and --tls-key are not a certificate and its key',
    class: 'failure',
    fix: 'name a certificate in PEM and the key that belongs to it, without a passphrase',
  },
  'edition-not-served': {
    title: 'The embedded service does not have this edition, or not in this dialect',
    class: 'failure',
    fix: 'choose one of those that the message names, or leave --edition out',
  },
  'data-file-served': {
    title: 'Another process already serves the data file of the embedded service',
    class: 'failure',
    fix: 'use that process, or stop it',
  },
  'data-file-refused': {
    title: 'The embedded service cannot use its data file',
    class: 'failure',
    fix: 'see the message, or give another file with --data',
  },
  'seed-refused': {
    title: 'The seed of the embedded service is not valid',
    class: 'failure',
    fix: 'correct it at the place that the message names',
  },
  'seed-conflict': {
    title: 'The seed contradicts the data file',
    class: 'failure',
    fix: 'correct the seed, or start with a new data file',
  },
  // plan files and approvals
  'plan-unreadable': {
    title: 'A plan file cannot be read',
    class: 'failure',
    fix: 'correct its path',
  },
  'not-a-plan': {
    title: 'A file is not a plan',
    class: 'failure',
    fix: 'make one with "trueup plan --out plan.json"',
  },
  'plan-version': {
    title: 'A plan file has another version',
    class: 'failure',
    fix: 'plan again, and approve again',
  },
  'plan-edited': {
    title: 'A plan file was changed after trueup wrote it',
    class: 'failure',
    fix: 'plan again: a plan cannot be edited',
  },
  'plan-elsewhere': {
    title: 'The plan was made for another stack, other targets or another selection',
    class: 'failure',
    fix: 'apply it to the stack that it was made for, or plan again',
  },
  'plan-problems': {
    title: 'The plan has problems that must be solved first',
    class: 'failure',
    fix: 'solve them: each problem has its own code',
  },
  'approval-mismatch': {
    title: 'The digest of the plan file is not the approved digest',
    class: 'failure',
    fix: 'apply the plan that was approved, or approve this one',
  },
  'approval-stale': {
    title: 'The plan is neither the approved plan nor its remaining part',
    class: 'failure',
    fix: 'review the current plan, and approve it',
  },
  'approval-ended': {
    title: 'The approval ended: its plan was already applied',
    class: 'failure',
    fix: 'plan again and approve again; with only a digest, add --again',
  },
  'guards-block': {
    title: 'Guards block the plan',
    class: 'failure',
    fix: 'read the plan, then acknowledge them with --ack',
  },
  'commit-needed': {
    title: 'The command applies a commit, but the files are not those of a commit',
    class: 'failure',
    fix: 'run it in a clean checkout of the protected branch',
  },
  'not-approved': {
    title: 'The plan was not approved, or not by enough people',
    class: 'failure',
    fix: 'approve it in one of the ways that the message lists, and run the job again',
  },
  'run-plan-differs': {
    title: 'The plan is not the one that this CI run has recorded, or it was recorded too late',
    class: 'failure',
    fix: 'start a new run of the workflow: what was approved for this one does not count for another plan',
  },
  // audit trails and their archive
  'trail-unreadable': {
    title: 'The service refused the audit trail, or returned something else',
    class: 'failure',
    fix: 'give the target an "auditToken" that was made for audit trails; the message has the response',
  },
  'no-audit-token': {
    title: 'No target of the stack has a token for the audit trail of its organization',
    class: 'failure',
    fix: 'add "auditToken: { env: NAME }" to a target of service "workspaces"',
  },
  'archive-unusable': {
    title: 'The archive of audit trails cannot be read or written, or is not an archive',
    class: 'failure',
    fix: 'see the message for the reason, such as permissions, another file format or an unreachable server',
  },
  'archive-address': {
    title: "The address of the archive's database is not valid",
    class: 'failure',
    fix: 'correct "spec.audit.archive", or the variable that holds it',
  },
  'cursor-file': {
    title: 'The cursor file, which stores how far a trail was followed, cannot be read',
    class: 'failure',
    fix: 'name another file with --cursor, or remove it to start again',
  },
  'no-archive': {
    title: 'No archive is configured',
    class: 'failure',
    fix: 'name one with --to or --from, or in "spec.audit.archive" of the stack',
  },
  'trail-gap': {
    title: 'Events of an audit trail are permanently missing from the archive',
    class: 'failure',
    warning: true,
    fix: 'archive more often than every 14 days, best with --follow',
  },
  // the comment of a pull request
  'review-unknown': {
    title: 'The pull request of a plan is unknown',
    class: 'failure',
    fix: 'run it in a job of a pull request, or name service, repository and number with flags',
  },
  'comment-refused': {
    title: 'The service of the pull request refused the comment',
    class: 'failure',
    fix: 'follow the message: it has the response of the service; in a fork, leave out --must-post',
  },
  'comment-author': {
    title: 'The service does not report which account the token belongs to',
    class: 'failure',
    fix: 'name the author of our comments with --author',
  },
  'approval-not-signed': {
    title: 'An approval cannot be signed with the key',
    class: 'failure',
    fix: 'follow the message; name another key with --key, or add the key to ssh-agent',
  },
  'approval-place': {
    title: 'The repository, the remote or the commit of an approval is unknown',
    class: 'failure',
    fix: 'run it in a clone of the repository of the stack; name the remote with --remote, the commit with --commit',
  },
  'approvals-unreadable': {
    title: 'A source of approvals cannot be read in full, or written',
    class: 'failure',
    fix: 'follow the message: it has the reason; nothing was applied',
  },
  // how a run ends
  deadline: {
    title: 'The run reached its time limit',
    class: 'failure',
    fix: 'raise it with --timeout, or with "timeout" in the stack\'s spec',
  },
  interrupted: {
    title: 'The run was interrupted',
    class: 'failure',
    fix: 'run it again: the ledger has what was done',
  },
  stopped: {
    title: 'The run ended without a result; the reason is on standard error',
    class: 'failure',
    fix: 'see what it wrote to standard error',
  },
  // trueup ci
  'base-unknown': {
    title: 'It is not known with which commit the changes are compared',
    class: 'failure',
    fix: 'name it with --base, or plan all stacks with --all',
  },
  'commit-unreadable': {
    title: 'A commit cannot be read from the repository or its remote',
    class: 'failure',
    fix: 'let the job read the repository, or fetch the history of the branch before',
  },
  'same-stack-name': {
    title: 'Two stacks of the repository have the same name',
    class: 'invalid',
    fix: 'give one of them another name: plans and comments are found by this name',
  },
  'targets-of-base': {
    title: 'The plan was made with targets of the base branch',
    class: 'failure',
    warning: true,
    fix: 'ask a person with write permission to open the pull request, or merge the change of the targets first, in a pull request of its own',
  },
  'targets-changed': {
    title: 'The pull request changes where secrets go or come from',
    class: 'failure',
    warning: true,
    fix: 'approve the plan only if each target, token, ledger and archive that the message names is right; until then "ci apply" sends no token there',
  },
  'validated-only': {
    title: 'The stack was only validated, and not planned',
    class: 'failure',
    warning: true,
    fix: 'ask a person with write permission to push the branch to the repository',
  },
  'not-reviewed': {
    title: 'A merge group would do something that no pull request of it has shown',
    class: 'failure',
    fix: 'update the branch of the pull request and review its new plan; if an earlier merge is not applied yet, wait for that, and queue it again',
  },
  note: {
    title: 'Something is wrong, but the run goes on',
    class: 'failure',
    warning: true,
    fix: 'read the message',
  },
} as const satisfies CodeTable;
