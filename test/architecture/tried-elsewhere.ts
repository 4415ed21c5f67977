/**
 * Source files whose test does not stand at their path: which test tries them instead, and why there. Most are one step of
 * something that can only be right or wrong as a whole; tried alone they would be tried against made-up neighbours.
 */

export interface TriedElsewhere {
  readonly by: string;
  readonly because: string;
  /** below `src` */
  readonly sources: readonly string[];
}

const ofApproval =
  'an approval is right when the very plan passes and no other one does: the commands show it';
const ofCalls =
  'calls are tried on the plans that hold them, so that order and preconditions are tried with them';
const ofErrors = 'it words a part of a message, and users read the message';
const ofPage = 'it is right when somebody can use it, and only a browser shows that';
const ofPlan = 'a step of planning: it is right when the plan is';
const ofText = 'a part of a text, which is compared as a whole';
const ofWire = 'it is seen by what goes over the wire, and by what comes of an answer';
const ofTables = 'a table: what reads it is tried, entry by entry';

export const triedElsewhere: readonly TriedElsewhere[] = [
  // What an apply does.
  {
    by: 'test/apply/apply-plan.test.ts',
    because: 'one change is carried out among others: order, outcomes and the ledger belong together',
    sources: ['apply/change-run.ts'],
  },
  {
    by: 'test/e2e/failures/refused-answers.test.ts',
    because: 'a refusal is verified at a service that has carried the write out all the same',
    sources: ['apply/verify-refusal.ts'],
  },

  // The audit trail.
  {
    by: 'test/audit/trail/read-trail.test.ts',
    because: 'a page is believed or not by who reads the trail',
    sources: ['audit/trail/read-page.ts', 'model/audit-trail.ts'],
  },
  {
    by: 'test/manifest/stack/read-stack.test.ts',
    because: 'where a stack keeps things is a part of the stack',
    sources: ['manifest/schema/place-schemas.ts'],
  },
  {
    by: 'test/audit/archive/archive.test.ts',
    because: 'an archive keeps the same promises in a file and in a database',
    sources: ['audit/archive/archive-database.ts', 'audit/archive/postgres-archive.ts'],
  },
  {
    by: 'test/ledger/postgres/postgres-ledger.test.ts',
    because: 'connections break, and servers restart, under a store that uses them',
    sources: ['ledger/postgres/postgres-connection.ts'],
  },

  // Reports for pull requests.
  {
    by: 'test/report/markdown/plan-markdown.test.ts',
    because: ofText,
    sources: [...['report/markdown/change-details.ts', 'report/markdown/risk-sections.ts']],
  },
  {
    by: 'test/report/graph/mermaid.test.ts',
    because: 'a graph is right when what is drawn of it is',
    sources: ['report/graph/plan-graph.ts'],
  },
  {
    by: 'test/report/html/plan-html.test.ts',
    because: 'the page has to carry all of it together',
    sources: ['report/html/plan-view.ts', 'report/html/risk-lists.ts'],
  },
  {
    by: 'test/browser/report-page.test.ts',
    because: ofPage,
    sources: [
      'report/html/page/table/change-details.ts',
      'report/html/page/table/change-row.ts',
      'report/html/page/table/changes-section.ts',
      'report/html/page/elements.ts',
      'report/html/page/table/filter-bar.ts',
      'report/html/page/table/filters.ts',
      'report/html/page/page-head.ts',
      'report/html/page/risks-section.ts',
    ],
  },
  {
    by: 'test/browser/graph.test.ts',
    because: ofPage,
    sources: [
      'report/html/page/graph/camera.ts',
      'report/html/page/graph/graph-drawing.ts',
      'report/html/page/graph/graph-pointers.ts',
      'report/html/page/graph/graph-section.ts',
    ],
  },

  // Files, the wire and services.
  {
    by: 'test/manifest/resolve/check-secret-sources.test.ts',
    because: 'it decides for the check of secrets which files are admitted',
    sources: ['manifest/files/admitted-files.ts'],
  },
  {
    by: 'test/plan/guards/find-guards.test.ts',
    because: 'guards are found together: one plan may meet several',
    sources: ['plan/guards/identity-guards.ts'],
  },
  {
    by: 'test/e2e/manifests/planted-files.test.ts',
    because: 'pipes, devices and links lie in wait for every file that is read, whoever reads it',
    sources: ['files/read-regular.ts'],
  },
  {
    by: 'test/http/authenticator.test.ts',
    because: ofWire,
    sources: ['http/login-channel.ts'],
  },
  {
    by: 'test/http/transport/sender.test.ts',
    because: ofWire,
    sources: [...['http/transport/attempt.ts', 'http/transport/connection.ts', 'http/transport/exchange.ts']],
  },
  {
    by: 'test/http/transport/explain-failure.test.ts',
    because: 'proxies and certificates show in how a connection fails',
    sources: ['http/transport/open-dispatcher.ts'],
  },
  { by: 'test/e2e/failures/looking.test.ts', because: ofWire, sources: ['services/read-live.ts'] },
  {
    by: 'test/kinds/workspace/read.test.ts',
    because: 'kinds read by it, and what they make of the answers is what counts',
    sources: [
      ...['kinds/workspace/read/live-workspace.ts', 'services/workspaces/bound-tags.ts'],
      ...['services/workspaces/list-workspaces.ts', 'services/workspaces/read-workspace.ts'],
    ],
  },

  // Kinds.
  {
    by: 'test/kinds/cluster-auth-config/calls.test.ts',
    because: ofCalls,
    sources: ['kinds/cluster-auth-config/prepare.ts'],
  },
  {
    by: 'test/kinds/cluster-auth-config/read.test.ts',
    because: 'it makes of an answer what reading gives',
    sources: ['kinds/cluster-auth-config/live-config.ts'],
  },
  {
    by: 'test/kinds/cluster-auth-config/check.test.ts',
    because: ofTables,
    sources: ['kinds/cluster-auth-config/pem.ts', 'kinds/cluster-auth-config/schema.ts'],
  },
  {
    by: 'test/e2e/failures/mount-rights.test.ts',
    because: ofWire,
    sources: ['plan/calls/foresee-refusals.ts'],
  },
  {
    by: 'test/e2e/failures/unusable-mounts.test.ts',
    because: ofErrors,
    sources: ['services/cluster-auth/mount-answer.ts'],
  },
  {
    by: 'test/e2e/manifests/lint.test.ts',
    because: 'what becomes of a finding is decided by the stack and by the clock of the host',
    sources: ['kinds/cluster-auth-config/check-certificates.ts', 'kinds/cluster-auth-config/check-host.ts'],
  },
  {
    by: 'test/kinds/cluster-auth-role/risk.test.ts',
    because: 'the words stand in what a risk says',
    sources: ['kinds/cluster-auth-role/access-words.ts'],
  },
  {
    by: 'test/kinds/cluster-auth-role/read.test.ts',
    because: 'it makes of an answer what reading gives',
    sources: ['kinds/cluster-auth-role/live-role.ts'],
  },
  {
    by: 'test/kinds/cluster-auth-role/calls.test.ts',
    because: ofCalls,
    sources: ['kinds/cluster-auth-role/prepare.ts'],
  },
  {
    by: 'test/kinds/cluster-auth-role/check.test.ts',
    because: ofTables,
    sources: [
      ...['kinds/cluster-auth-role/check/check-access.ts', 'kinds/cluster-auth-role/check/check-tokens.ts'],
      'kinds/cluster-auth-role/schema.ts',
    ],
  },
  {
    by: 'test/kinds/remote-state-consumers/calls.test.ts',
    because: ofCalls,
    sources: ['kinds/remote-state-consumers/prepare.ts'],
  },
  {
    by: 'test/kinds/remote-state-consumers/read.test.ts',
    because: 'it makes of an answer what reading gives',
    sources: ['kinds/remote-state-consumers/read-edges.ts'],
  },
  {
    by: 'test/kinds/workspace/calls/remove-calls.test.ts',
    because: 'what blocks a delete is seen in the plan of one',
    sources: ['kinds/workspace/blockers.ts'],
  },
  {
    by: 'test/kinds/workspace/calls.test.ts',
    because: ofCalls,
    sources: [
      ...['kinds/workspace/calls/create-calls.ts', 'kinds/workspace/calls/neighbour-calls.ts'],
      'kinds/workspace/calls/settings-body.ts',
    ],
  },
  {
    by: 'test/kinds/workspace/check.test.ts',
    because: 'the parts of one check, whose problems are told together',
    sources: [
      ...['kinds/workspace/check/check-execution.ts', 'kinds/workspace/check/check-triggers.ts'],
      'kinds/workspace/schema.ts',
    ],
  },
  {
    by: 'test/kinds/workspace/prepare.test.ts',
    because: 'the parts of one preparation, whose result is compared',
    sources: [
      ...['kinds/workspace/prepare/prepare-auto-destroy.ts', 'kinds/workspace/prepare/prepare-triggers.ts'],
    ],
  },
  {
    by: 'test/e2e/weak-servers/weak-servers.test.ts',
    because: 'it is about what a whole service never tells',
    sources: ['kinds/workspace/prepare/own-mode.ts'],
  },
  {
    by: 'test/e2e/workspaces/inherited-mode.test.ts',
    because: 'the service refuses what was read wrong',
    sources: ['kinds/workspace/predict/predict-assessments.ts'],
  },

  // Ledger stores.
  {
    by: 'test/ledger/git/order-commits.test.ts',
    because: 'it reads real repositories, in all the shapes that they are checked out in',
    sources: [
      ...['ledger/git/borrowed-repository.ts', 'ledger/git/commit-graph.ts', 'ledger/git/git-command.ts'],
    ],
  },
  {
    by: 'test/ledger/git/git-ledger.test.ts',
    because: 'it is the half of the store that speaks to git',
    sources: ['ledger/git/git-repository.ts'],
  },
  {
    by: 'test/e2e/secrets/git-logins.test.ts',
    because: 'logins of git are secrets, and must show in nothing that a run says',
    sources: ['ledger/git/configured-secrets.ts'],
  },
  {
    by: 'test/ledger/lost-answers.test.ts',
    because: 'what we wrote ourselves has to be known again when the answer was lost',
    sources: ['ledger/own-writes.ts'],
  },
  {
    by: 'test/ledger/postgres/postgres-ledger.test.ts',
    because: 'a schema is right when a real server takes it',
    sources: ['ledger/postgres/postgres-schema.ts'],
  },
  {
    by: 'test/ledger/stores.test.ts',
    because: 'all stores keep the same texts and refuse the same damage',
    sources: ['ledger/stored-json.ts'],
  },

  // Manifests.
  {
    by: 'test/manifest/validate-manifest.test.ts',
    because: ofErrors,
    sources: [
      ...['manifest/explain/describe-value.ts', 'manifest/explain/explain-errors.ts'],
      ...['manifest/explain/explain-type.ts', 'manifest/explain/problem.ts'],
      ...['manifest/explain/suggest-field.ts', 'manifest/resolve/declaration.ts'],
    ],
  },
  {
    by: 'test/manifest/explain/mask-secrets.test.ts',
    because: 'hidden parts are seen in texts that have been masked',
    sources: [
      ...['manifest/explain/hidden-parts.ts', 'manifest/hidden-regions.ts', 'manifest/secret-names.ts'],
    ],
  },
  {
    by: 'test/manifest/read-manifests.test.ts',
    because: 'files are read, compiled against and judged in one go',
    sources: ['manifest/load-documents.ts', 'manifest/schema/compile-schema.ts'],
  },
  {
    by: 'test/manifest/resolve/resolve-resources.test.ts',
    because: 'the layers of a spec are seen in what they give together',
    sources: ['manifest/resolve/spec-layers.ts'],
  },
  {
    by: 'test/manifest/stack/read-stack.test.ts',
    because: 'targets stand in stacks, and are told about with their place there',
    sources: ['manifest/stack/read-target.ts', 'manifest/schema/stack-schema.ts'],
  },
  {
    by: 'test/manifest/yaml/explain-syntax.test.ts',
    because: ofErrors,
    sources: ['manifest/yaml/explain-keys.ts'],
  },

  // Words.
  {
    by: 'test/model/diagnostic-codes.test.ts',
    because: ofTables,
    sources: [
      ...['model/codes/kind-codes.ts', 'model/codes/lint-codes.ts'],
      ...['model/codes/edit-codes.ts', 'model/codes/manifest-codes.ts', 'model/codes/run-codes.ts'],
    ],
  },
  {
    by: 'test/model/kind/define-kind.test.ts',
    because: 'the contract of a kind: a kind that is defined fulfils it',
    sources: ['model/kind/kind.ts'],
  },
  {
    by: 'test/model/known-secrets.test.ts',
    because: 'spellings of a secret matter where one is looked for in a text',
    sources: ['model/secret-spellings.ts'],
  },
  {
    by: 'test/ledger/stores.test.ts',
    because: 'the errors of stores are what every store has to throw',
    sources: ['model/stack/ledger.ts'],
  },
  {
    by: 'test/e2e/weak-servers/first-parts.test.ts',
    because: 'what a create has to prove is right when the others wait for exactly that',
    sources: ['plan/calls/unproven.ts'],
  },
  { by: 'test/apply/send-call.test.ts', because: ofWire, sources: ['model/wire.ts'] },
  {
    by: 'test/report/json/plan-json.test.ts',
    because: 'types, and the version that is written beside what they hold',
    sources: ['model/plan/plan.ts'],
  },
  {
    by: 'test/http/open-target.test.ts',
    because: 'types, and the path below which each service answers',
    sources: ['model/stack/target.ts'],
  },

  // The planner.
  {
    by: 'test/plan/approval/judge-approval.test.ts',
    because: ofApproval,
    sources: ['plan/approval/remaining-work.ts'],
  },
  {
    by: 'test/plan/build-plan.test.ts',
    because: ofPlan,
    sources: [
      ...['plan/calls/plan-calls.ts', 'plan/context/match-live.ts', 'plan/context/plan-context.ts'],
      ...['plan/draft/compare-resource.ts', 'plan/draft/draft-declared.ts'],
    ],
  },
  {
    by: 'test/plan/guards/find-guards.test.ts',
    because: 'it counts and matches what guards then speak of',
    sources: ['plan/context/declared-settings.ts', 'plan/ownership/find-renames.ts'],
  },
  {
    by: 'test/plan/guards/count-guards.test.ts',
    because: 'it counts what guards then speak of',
    sources: ['plan/guards/ownership-counts.ts'],
  },
  {
    by: 'test/plan/ownership/judge-undeclared.test.ts',
    because: ofPlan,
    sources: ['plan/draft/draft-removal.ts', 'plan/ownership/judge-whole.ts'],
  },

  // Reports.
  {
    by: 'test/report/terminal/plan-text.test.ts',
    because: ofText,
    sources: [
      ...['report/format/format-field.ts', 'report/format/plan-summary.ts', 'report/terminal/layout.ts'],
      ...['report/terminal/change-text.ts', 'report/terminal/field-text.ts'],
    ],
  },
  {
    by: 'test/report/plan-difference.test.ts',
    because: ofText,
    sources: ['report/terminal/plan-difference-text.ts'],
  },
  {
    by: 'test/report/json/plan-json.test.ts',
    because: 'a schema is right when it takes what is written and nothing else',
    sources: ['report/json/plan-schema.ts'],
  },
];
