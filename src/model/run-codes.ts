/** Codes of errors that end a run, or a part of it, for a reason outside of manifests and plan. */
import type { CodeTable } from './code-entry.ts';

export const runCodes = {
  // the command line
  usage: {
    title: 'The command line is not understood',
    class: 'failure',
    fix: 'run the command with --help to see what it takes',
  },
  'unknown-schema': {
    title: 'There is no schema of this name',
    class: 'failure',
    fix: 'write one of those that "trueup schema" lists',
  },
  'unknown-apply': {
    title: 'The history has no apply of this id',
    class: 'failure',
    fix: 'see "trueup history" for those that there are',
  },
  'unknown-role': {
    title: 'There is no role of this name, or no role could have it',
    class: 'failure',
    fix: 'write the name of a role as the manifest has it',
  },
  'target-needed': {
    title: 'Several targets may have the role of this name',
    class: 'failure',
    fix: 'name one of them with --target',
  },
  'unknown-guard': {
    title: 'There is no guard of this name',
    class: 'failure',
    fix: 'write the id as the plan shows it',
  },
  'ack-without-plan': {
    title: 'Guards are acknowledged, but no plan is named',
    class: 'failure',
    fix: 'give the digest with --approve, or the plan file',
  },
  'nobody-to-ask': {
    title: 'A question has to be answered before anything is written, and nobody can answer',
    class: 'failure',
    fix: 'pass --yes, or an approval where the command takes one',
  },
  'stack-file-needed': {
    title: 'The command needs a stack in a file',
    class: 'failure',
    fix: 'give the path of the stack in place of "-"',
  },
  'whole-stack-needed': {
    title: 'The command needs the whole stack, and standard input brings a selection of it',
    class: 'failure',
    fix: 'run it without "-"',
  },
  // files and secrets
  'system-error': {
    title: 'The operating system refuses something, such as to open a file',
    class: 'failure',
    fix: 'see the message for the file and the reason',
  },
  'files-exist': {
    title: 'An export would write over files',
    class: 'failure',
    fix: 'pass --force, or another --out',
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
    title: 'The file of a seed cannot be read, or is no YAML',
    class: 'failure',
    fix: 'correct the path or the file',
  },
  // services
  'request-failed': {
    title: 'A service cannot be reached, or its answer cannot be used',
    class: 'failure',
    fix: 'follow the message: it names the request and what to check',
  },
  'proxy-address': {
    title: 'The environment asks for a proxy but gives no valid address',
    class: 'failure',
    fix: 'correct the variable that is named',
  },
  'port-unavailable': {
    title: 'The port to listen on is not available',
    class: 'failure',
    fix: 'choose another with --port, or leave --port out',
  },
  'dialect-not-served': {
    title: 'The embedded service does not speak this dialect, or not together with another one',
    class: 'failure',
    fix: 'follow the message: it serves one dialect for each of the two APIs',
  },
  'admin-token-place': {
    title: 'There is no place for the token of the admin API',
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
    title: 'The data file of the embedded service is served by another process',
    class: 'failure',
    fix: 'use that one, or end it',
  },
  'data-file-refused': {
    title: 'The embedded service cannot use its data file',
    class: 'failure',
    fix: 'see the message; another file is given with --data',
  },
  'seed-refused': {
    title: 'The embedded service does not understand the seed',
    class: 'failure',
    fix: 'correct it at the place that the message names',
  },
  'seed-conflict': {
    title: 'The seed contradicts what the data file has',
    class: 'failure',
    fix: 'correct the seed, or begin a new data file',
  },
  // plan files and approvals
  'plan-unreadable': {
    title: 'A plan file cannot be read',
    class: 'failure',
    fix: 'correct its path',
  },
  'not-a-plan': {
    title: 'A file is no plan',
    class: 'failure',
    fix: 'make one with "trueup plan --out plan.json"',
  },
  'plan-version': {
    title: 'A plan file is of another version',
    class: 'failure',
    fix: 'plan again, and approve again',
  },
  'plan-edited': {
    title: 'A plan file is not as trueup wrote it',
    class: 'failure',
    fix: 'plan again: a plan cannot be edited',
  },
  'plan-elsewhere': {
    title: 'The plan was made for another stack, other targets or another selection',
    class: 'failure',
    fix: 'apply it where it was made for, or plan again',
  },
  'plan-problems': {
    title: 'The plan has problems that must be solved first',
    class: 'failure',
    fix: 'solve them: each has an entry of its own',
  },
  'approval-mismatch': {
    title: 'A plan file has another digest than the one that was approved',
    class: 'failure',
    fix: 'apply the plan that was approved, or approve this one',
  },
  'approval-stale': {
    title: 'The plan is not the one that was approved, nor what is left of it',
    class: 'failure',
    fix: 'review the plan as it is now, and approve it anew',
  },
  'approval-ended': {
    title: 'The approval ended: its plan was applied already',
    class: 'failure',
    fix: 'plan again and approve again; of a digest alone, add --again',
  },
  'guards-block': {
    title: 'Guards block the plan',
    class: 'failure',
    fix: 'read the plan, then acknowledge them with --ack',
  },
  // the ledger, its lock and its history
  'ledger-unusable': {
    title: 'The ledger cannot be reached, read or written',
    class: 'failure',
    fix: 'follow the message: it names the place and the reason',
  },
  'ledger-address': {
    title: 'The address of the ledger is not valid',
    class: 'failure',
    fix: 'correct "spec.ledger", or the variable that it names',
  },
  'ledger-damaged': {
    title: 'The ledger is not as it was written',
    class: 'failure',
    fix: 'mend what it is kept in, or rebuild it with "trueup recover"',
  },
  'ledger-conflict': {
    title: 'Another run wrote the ledger meanwhile',
    class: 'failure',
    fix: 'plan again',
  },
  locked: {
    title: 'Another run holds the lock of the stack',
    class: 'failure',
    fix: 'wait for it with --lock-timeout; one that is certainly over is unlocked with "trueup unlock"',
  },
  'wrong-lock-id': {
    title: 'The stack is not locked with this id',
    class: 'failure',
    fix: 'see who holds the lock, and unlock with that id',
  },
  'lock-lost': {
    title: 'The lock of this run was taken away while it was working',
    class: 'failure',
    fix: 'look who works on this stack, and plan again',
  },
  'lock-left': {
    title: 'The lock of this run could not be given back',
    class: 'failure',
    fix: 'take it away with "trueup unlock", as the message shows',
  },
  'history-unwritten': {
    title: 'What was applied is not all written into the history',
    class: 'failure',
    fix: 'repair the place of the history, and run "trueup apply" again: it completes the history',
  },
  'history-damaged': {
    title: 'An entry of the history cannot be read',
    class: 'failure',
    fix: 'restore it from a backup, or leave it: nothing else depends on it',
  },
  'stack-renamed': {
    title: 'The stack goes on under another name, which has taken its ledger over',
    class: 'failure',
    fix: 'plan and apply that one, or give this one another name',
  },
  'former-ledger-taken': {
    title: 'The former stack goes on under another name already',
    class: 'failure',
    fix: 'correct "metadata.renamedFrom"',
  },
  'former-ledger-waits': {
    title: "The ledger of the stack's former name has not been taken over yet",
    class: 'failure',
    fix: 'apply the stack; a damaged ledger of its own is moved away by hand first',
  },
  'look-incomplete': {
    title: 'Not everything could be read, and what was not seen would be forgotten',
    class: 'failure',
    fix: 'make it possible to read all of it, then try again',
  },
  'nothing-moved': {
    title: 'There is nothing to carry over to another place',
    class: 'failure',
    fix: 'see the message for what the ledger knows of the target',
  },
  // audit trails and their archive
  'trail-unreadable': {
    title: 'The audit trail was refused, or what was answered is none',
    class: 'failure',
    fix: 'give the target an "auditToken" that was made for audit trails; the message says what came instead',
  },
  'no-audit-token': {
    title: 'No target of the stack has a token for the audit trail of its organization',
    class: 'failure',
    fix: 'add "auditToken: { env: NAME }" to a target of service "workspaces"',
  },
  'archive-unusable': {
    title: 'The archive of audit trails cannot be read or written, or is none',
    class: 'failure',
    fix: 'see the message for the reason: rights, a file of something else, a server that does not answer',
  },
  'archive-address': {
    title: "The address of the archive's database is not valid",
    class: 'failure',
    fix: 'correct "spec.audit.archive", or the variable that holds it',
  },
  'cursor-file': {
    title: 'The file that keeps how far a trail was followed cannot be read',
    class: 'failure',
    fix: 'name another file with --cursor, or remove it to begin anew',
  },
  'no-archive': {
    title: 'No archive is named',
    class: 'failure',
    fix: 'name one with --to or --from, or in "spec.audit.archive" of the stack',
  },
  'trail-gap': {
    title: 'Events of an audit trail are missing from the archive, for good',
    class: 'failure',
    warning: true,
    fix: 'archive more often than every 14 days, best with --follow',
  },
  // the comment of a pull request
  'review-unknown': {
    title: 'It is not known which pull request a plan belongs to',
    class: 'failure',
    fix: 'run it in a job of a pull request, or name service, repository and number with flags',
  },
  'comment-refused': {
    title: 'The service of the pull request did not take the comment',
    class: 'failure',
    fix: 'follow the message: it has the answer of the service; in a fork, leave out --must-post',
  },
  'comment-author': {
    title: 'The service does not tell whom the token belongs to',
    class: 'failure',
    fix: 'name the author of our comments with --author',
  },
  // how a run ends
  deadline: {
    title: 'The time of the run is over',
    class: 'failure',
    fix: 'give it more with --timeout, or "timeout" in the stack\'s spec',
  },
  interrupted: {
    title: 'Somebody has stopped the run',
    class: 'failure',
    fix: 'run it again: what was done is known',
  },
  stopped: {
    title: 'The run ended without a result; the reason is on standard error',
    class: 'failure',
    fix: 'see what it wrote to standard error',
  },
  note: {
    title: 'Something is wrong, but the run goes on',
    class: 'failure',
    warning: true,
    fix: 'read the message',
  },
} as const satisfies CodeTable;
