/** The same list as `tried-elsewhere.ts` for the command line, which is tried by commands as users type them. */
import type { TriedElsewhere } from './tried-elsewhere.ts';

const command = 'a command is what a user types: its whole way is tried, from the flags to the exit code';
const ofApproval =
  'an approval is right when the very plan passes and no other one does: the commands show it';
const ofAccept =
  'steps of one taking in, which is right when the plan is empty afterwards and no other line has moved';
const ofExport = 'steps of one export, which is right when its manifests are adopted without a change';
const ofRun = 'what it prepares is seen by what the command then does, and by its message when it cannot';

export const triedByCommands: readonly TriedElsewhere[] = [
  {
    by: 'test/e2e/manifests/json-answers.test.ts',
    because: 'a schema is right when what commands print fits it',
    sources: ['report/results/result-schemas.ts'],
  },
  {
    by: 'test/e2e/logins/role-check.test.ts',
    because: command,
    sources: [
      ...['cli/commands/check-role.ts', 'cli/role-check/choose-target.ts'],
      ...['model/login-check.ts', 'report/login/login-schema.ts'],
    ],
  },
  {
    by: 'test/e2e/pull-request/comment.test.ts',
    because:
      'a comment is right when it is the only one of its stack in the thread, and shows the newest plan: the service tells',
    sources: [
      ...['cli/commands/comment.ts', 'cli/comment/review.ts', 'cli/comment/sticky-comment.ts'],
      ...['http/code-host/open-code-host.ts', 'report/comment/comment-state.ts'],
    ],
  },
  {
    by: 'test/e2e/drift/drift.test.ts',
    because: command,
    sources: [
      ...['cli/commands/drift.ts', 'plan/drift/find-pending.ts'],
      ...['plan/drift/judge-recorded.ts', 'report/drift/drift-json.ts', 'report/drift/drift-schema.ts'],
      'report/drift/drift-text.ts',
    ],
  },
  {
    by: 'test/e2e/drift/unmanaged.test.ts',
    because: 'what an apply has seen is right when nothing counts as changed until somebody changes it',
    sources: ['plan/drift/find-unmanaged.ts'],
  },
  {
    by: 'test/e2e/drift/who-touched.test.ts',
    because:
      'who is named is right when those are named who did it, as the service that they did it to tells it',
    sources: [
      'cli/drift/ask-trails.ts',
      'cli/drift/read-events.ts',
      'plan/drift/with-touches.ts',
      'plan/drift/runs-of-stack.ts',
    ],
  },
  {
    by: 'test/e2e/audit/audit.test.ts',
    because: command,
    sources: [
      ...['cli/audit/archive.ts', 'cli/audit/cursor-file.ts', 'cli/audit/follow.ts', 'cli/audit/list.ts'],
      ...[
        'cli/audit/open-archive.ts',
        'cli/audit/organization-of.ts',
        'cli/audit/poll.ts',
        'cli/flags/audit.ts',
        'cli/run/connect-audit.ts',
      ],
      'report/audit/events-json.ts',
      'report/audit/events-schema.ts',
    ],
  },
  {
    by: 'test/cli/role-check/recorded-logins.test.ts',
    because: 'the checks and their order are right when a real service makes the same ones in the same order',
    sources: ['cli/role-check/login-rules.ts', 'cli/role-check/walk-checks.ts'],
  },
  {
    by: 'test/e2e/approval/approval.test.ts',
    because: ofApproval,
    sources: ['cli/approval/check-approval.ts', 'cli/approval/read-approval.ts'],
  },
  {
    by: 'test/e2e/approval/guards.test.ts',
    because: ofApproval,
    sources: ['cli/approval/acknowledge.ts', 'cli/approval/consent.ts', 'cli/terminal/terminal.ts'],
  },
  {
    by: 'test/e2e/approval/screen.test.ts',
    because: 'a question needs a real terminal and somebody in front of it',
    sources: ['cli/terminal/question.ts'],
  },
  {
    by: 'test/e2e/approval/plan-files.test.ts',
    because: command,
    sources: ['cli/approval/plan-file.ts', 'cli/commands/apply.ts', 'cli/commands/plan.ts'],
  },
  {
    by: 'test/e2e/manifests/commands.test.ts',
    because: command,
    sources: ['cli/command-line.ts', 'cli/run/read-input.ts', 'main.ts', 'report/json/history-schema.ts'],
  },
  {
    by: 'test/e2e/pull-request/formats.test.ts',
    because: 'each event is right when the stream of a real apply tells what happened, and fits the schema',
    sources: ['report/json/apply-event-schema.ts'],
  },
  {
    by: 'test/e2e/pull-request/formats.test.ts',
    because: command,
    sources: ['report/markdown/diagnostics-markdown.ts'],
  },
  { by: 'test/e2e/failures/waiting.test.ts', because: command, sources: ['cli/command-options.ts'] },
  {
    by: 'test/e2e/failures/waiting.test.ts',
    because: 'signals and deadlines end real processes, and what they were doing',
    sources: ['cli/stop/deadline.ts'],
  },
  {
    by: 'test/e2e/accept/left-alone.test.ts',
    because: 'files are replaced rightly when a command that cannot replace one leaves all as they were',
    sources: ['ledger/local/replace-file.ts'],
  },
  {
    by: 'test/e2e/accept/secrets.test.ts',
    because: 'what no patch shows is right when it does not reach the files',
    sources: ['cli/accept/draft-files.ts', 'cli/accept/patch.ts'],
  },
  {
    by: 'test/e2e/accept/accept.test.ts',
    because: ofAccept,
    sources: [
      ...['cli/commands/accept.ts', 'cli/accept/choose-takings.ts'],
      ...['cli/accept/place-taking.ts', 'cli/accept/settle-takings.ts', 'cli/accept/review-changes.ts'],
      ...['cli/accept/write-files.ts', 'manifest/edit/shared-values.ts', 'cli/accept/write-revert.ts'],
    ],
  },
  {
    by: 'test/manifest/edit/kept-style.test.ts',
    because: 'habits are right when whole texts, before and after, show them',
    sources: ['manifest/edit/habits.ts', 'manifest/edit/text-block.ts'],
  },
  {
    by: 'test/manifest/edit/untouched-lines.test.ts',
    because: 'the parts of one edit are right when no random manifest is harmed by them',
    sources: [
      'source-tree.ts',
      'entries.ts',
      'next-edit.ts',
      'replace-value.ts',
      'value-text.ts',
      'edit-document.ts',
    ].map((file) => `manifest/edit/${file}`),
  },
  {
    by: 'test/e2e/manifests/export.test.ts',
    because: ofExport,
    sources: [
      ...['cli/commands/export.ts', 'cli/export/check.ts', 'cli/export/draft.ts'],
      ...['cli/export/files.ts', 'cli/export/read.ts', 'cli/export/select.ts'],
    ],
  },
  {
    by: 'test/e2e/ledger/history.test.ts',
    because: command,
    sources: [
      ...['cli/commands/history.ts', 'cli/ledger/record-history.ts', 'report/terminal/history-text.ts'],
    ],
  },
  {
    by: 'test/e2e/ledger/recover.test.ts',
    because: command,
    sources: ['cli/recover/recover.ts', 'plan/ledger/recover-records.ts'],
  },
  {
    by: 'test/e2e/ownership/belonging.test.ts',
    because: 'targets move in stack files, and what was recorded of them must not be lost by it',
    sources: [
      ...['cli/recover/recover-moved.ts', 'plan/ledger/carry-over-records.ts'],
      'plan/ledger/moved-targets.ts',
    ],
  },
  {
    by: 'test/e2e/ownership/renamed-stack.test.ts',
    because: 'a stack is renamed in its file, and takes over what was its own under the old name',
    sources: ['cli/ledger/former-ledger.ts', 'plan/ledger/take-over-stack.ts'],
  },
  {
    by: 'test/e2e/ledger/locks.test.ts',
    because: 'locks are held by processes against each other',
    sources: ['cli/commands/unlock.ts', 'cli/ledger/hold-lock.ts'],
  },
  {
    by: 'test/e2e/ledger/ledger-places.test.ts',
    because: ofRun,
    sources: ['cli/ledger/open-ledger.ts'],
  },
  {
    by: 'test/e2e/service/serve.test.ts',
    because: command,
    sources: ['cli/commands/serve.ts', 'cli/flags/serve.ts', 'cli/run/embedded-service.ts'],
  },
  {
    by: 'test/e2e/secrets/secrets.test.ts',
    because: ofRun,
    sources: ['cli/run/missing-secrets.ts', 'cli/run/read-secret.ts'],
  },
  { by: 'test/dialects/login.test.ts', because: ofRun, sources: ['cli/run/connect.ts'] },
  {
    by: 'test/e2e/ownership/selection.test.ts',
    because: ofRun,
    sources: ['cli/run/make-plan.ts', 'cli/run/prepare-run.ts'],
  },

  {
    by: 'test/e2e/secrets/secrets.test.ts',
    because: 'what no output may show is looked for in the output of commands',
    sources: ['cli/cli-host.ts'],
  },
];
