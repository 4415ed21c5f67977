/**
 * The differences between the dialects of the workspaces API: a table of traits, one column for each dialect.
 * Sources: wire/workspaces 1.1 and 1.5.
 */
/** The behaviour of the workspaces API that differs between dialects. */
export interface WorkspacesDialect {
  readonly name: string;
  /** A locked workspace is not safely deleted: 409 (wire/workspaces 1.5.9). */
  readonly safeDeleteNeedsUnlocked: boolean;
  /** Setting `auto-destroy-at` of a workspace removes the duration that it has or inherits (wire/workspaces 1.5.19). */
  readonly dateEndsDuration: boolean;
  /** An exact engine version newer than every release is accepted (wire/workspaces 1.5.20). */
  readonly takesNewerEngines: boolean;
  /** From the specification's name of an attribute to this service's name; the database and the other code use the former (1.1). */
  readonly attributeNames: Readonly<Record<string, string>>;
  /** The category of configuration variables; the other one is `env`. */
  readonly engineCategory: string;
  /** The `source` of objects that requests create. */
  readonly source: string;
  /** A create can link an app installation, not only an update (1.5.2). */
  readonly takesAppInstallationOnCreate: boolean;
  /** A working directory may begin with "/". */
  readonly takesAbsoluteDirectories: boolean;
  /** The pattern of project names; undefined: any text is allowed (6.2). */
  readonly projectNames: RegExp | undefined;
  /** `trigger-patterns` are refused while `file-triggers-enabled` is false (2.1). */
  readonly patternsNeedFileTriggers: boolean;
  /** A workspace may share its state with its project: `project-remote-state` (1.5.3). */
  readonly sharesWithProject: boolean;
  /** Effective tag bindings of a separate request have ids (1.5.5). */
  readonly effectiveBindingsHaveIds: boolean;
  /** Searching for flat tags finds keys of tag bindings as well (1.5.22). */
  readonly tagSearchFindsBindings: boolean;
  /** `filter[tag-union]`, `filter[tag-value-default-null]` and, for consumers, `show_only_configured` are known (1.5.16). */
  readonly hasListSwitches: boolean;
  /** Relationships of a workspace that are absent, not null, while nothing is set (1.5.14). */
  readonly absentWhileUnset: readonly string[];
  /** A body may leave out the type of its resource, which follows from the path (1.5.21). */
  readonly takesUntypedBodies: boolean;
  /** Tokens of organizations and teams: their default lifetime, and whether a request may give a time in the past. */
  readonly tokenEnds: { readonly defaultMonths: number | undefined; readonly mayHavePassed: boolean };
  /** Health assessments are accepted with the mode `agent`, not only with `remote` (2.1). */
  readonly assessesAgents: boolean;
  /** The site administration is served below `/admin` (6.4). */
  readonly hasSiteAdministration: boolean;
  /**
   * A run ends as `errored`, because no engine runs here: clients must not take it for a successful run. Because an errored run
   * holds no lock, the service starts some runs itself: after the creation of a workspace, and at the time of an auto-destroy.
   */
  readonly runsEndAsErrored: boolean;
  /** The `source` of automatic runs: of an auto-destroy, and of a repository's events. */
  readonly runSources: { readonly autoDestroy: string; readonly repository: string };
  /** Plans and applies have links to their logs (6.5). */
  readonly hasLogs: boolean;
  /** Settings of an organization, by name, that are stored and returned but have no effect here (6.1). */
  readonly organizationSettings: Readonly<Record<string, OrganizationSetting>>;
  /** The format version of an audit event: a number, or a text (wire/audit-trails 2). */
  readonly auditEventVersion: number | string;
  /** By type of event: from the specification's name of a `meta` member to this service's name (wire/audit-trails 3.2). */
  readonly auditMetaNames: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Pages of an audit trail contain their size (wire/audit-trails 1.2). */
  readonly auditPagesHaveSize: boolean;
  /** Service discovery (1.6); undefined: none. */
  readonly discovery: Discovery | undefined;
  /** The editions of the service; the first is the default. */
  readonly editions: readonly [EditionName, ...EditionName[]];
}

/** The value of a setting that is not set, and the values that requests may set; without `takes` they cannot set it. */
export interface OrganizationSetting {
  readonly default: boolean | number | string | null;
  readonly takes?: 'flag' | 'minutes' | 'text' | readonly string[];
}

/** How clients find the API of a host, and its name and version. */
interface Discovery {
  /** Where the document is. */
  readonly path: string;
  /** The document: names of services to their addresses. */
  readonly services: Readonly<Record<string, string>>;
  /** Headers of every answer of the API. */
  readonly headers: Readonly<Record<string, string>>;
  /** Further headers of the hosted edition. */
  readonly hostedHeaders: Readonly<Record<string, string>>;
}

export const neutralWorkspaces: WorkspacesDialect = {
  name: 'neutral',
  editions: ['all', 'hosted', 'self-hosted'],
  safeDeleteNeedsUnlocked: false,
  dateEndsDuration: false,
  takesNewerEngines: false,
  attributeNames: {},
  engineCategory: 'engine',
  source: 'api',
  takesAppInstallationOnCreate: false,
  takesAbsoluteDirectories: false,
  projectNames: undefined,
  patternsNeedFileTriggers: false,
  sharesWithProject: false,
  effectiveBindingsHaveIds: false,
  tagSearchFindsBindings: false,
  hasListSwitches: false,
  absentWhileUnset: [],
  takesUntypedBodies: false,
  tokenEnds: { defaultMonths: undefined, mayHavePassed: false },
  assessesAgents: false,
  hasSiteAdministration: false,
  runsEndAsErrored: false,
  runSources: { autoDestroy: 'auto-destroy', repository: 'repository' },
  hasLogs: false,
  organizationSettings: {},
  auditEventVersion: 0,
  auditMetaNames: {},
  auditPagesHaveSize: false,
  discovery: undefined,
};

const API = '/api/v2/';

const flag = (byDefault: boolean): OrganizationSetting => ({ default: byDefault, takes: 'flag' });

export const hcpTerraform: WorkspacesDialect = {
  name: 'hcp-terraform',
  editions: ['hosted', 'self-hosted'],
  safeDeleteNeedsUnlocked: true,
  dateEndsDuration: true,
  takesNewerEngines: true,
  attributeNames: {
    'engine-version': 'terraform-version',
    'vcs-app-installation-id': 'github-app-installation-id',
    'policy-mocks': 'sentinel-mocks',
  },
  engineCategory: 'terraform',
  source: 'tfe-api',
  takesAppInstallationOnCreate: true,
  takesAbsoluteDirectories: true,
  projectNames: /^[\w-]+(?: +[\w-]+)*$/,
  patternsNeedFileTriggers: true,
  sharesWithProject: true,
  effectiveBindingsHaveIds: true,
  tagSearchFindsBindings: true,
  hasListSwitches: true,
  absentWhileUnset: ['ssh-key', 'locked-by'],
  takesUntypedBodies: true,
  tokenEnds: { defaultMonths: 24, mayHavePassed: true },
  assessesAgents: true,
  hasSiteAdministration: true,
  runsEndAsErrored: true,
  runSources: { autoDestroy: 'tfe-infrastructure-lifecycle', repository: 'tfe-configuration-version' },
  hasLogs: true,
  organizationSettings: {
    'collaborator-auth-policy': { default: 'password', takes: ['password', 'two_factor_mandatory'] },
    'cost-estimation-enabled': flag(false),
    'enforce-hyok': flag(false),
    'max-ttl-enabled': flag(false),
    'owners-team-saml-role-id': { default: null, takes: 'text' },
    'remaining-testable-count': { default: 5 },
    'send-passing-statuses-for-untriggered-speculative-plans': flag(false),
    'session-remember': { default: null, takes: 'minutes' },
    'session-timeout': { default: null, takes: 'minutes' },
    'speculative-plan-management-enabled': flag(true),
    'stacks-enabled': flag(false),
    'two-factor-conformant': { default: false },
    'user-tokens-enabled': flag(true),
  },
  auditEventVersion: '0',
  auditMetaNames: { policy_check: { policy_engine: 'sentinel' } },
  auditPagesHaveSize: true,
  discovery: {
    path: '/.well-known/terraform.json',
    services: { 'state.v2': API, 'tfe.v2': API, 'tfe.v2.1': API, 'tfe.v2.2': API },
    headers: { 'tfp-api-version': '2.6' },
    hostedHeaders: { 'tfp-appname': 'HCP Terraform' },
  },
};

// The editions of the service: a table of the features of each.
// Invariant: a feature that an edition lacks is neither answered nor accepted: its endpoints answer 404, its members are absent from
// documents and ignored in bodies. Its data stays in the data file, for an edition that has the feature.

/** Features that not every edition has. */
export interface EditionFeatures {
  /** Data retention policies: their endpoints, and the relationship that names one. */
  readonly dataRetentionPolicies: boolean;
  /** `assessments-enabled` of workspaces, in bodies and in answers. */
  readonly assessments: boolean;
  /** Whether an organization's default for `global-remote-state` counts when a create leaves it out. */
  readonly globalRemoteStateDefault: boolean;
  /** The audit trail of an organization can be read. */
  readonly auditTrails: boolean;
  /** Whether answers have the headers of the hosted service, in dialects that have such headers. */
  readonly hosted: boolean;
}

type EditionName = 'all' | 'hosted' | 'self-hosted';

/** The values of `--edition`, and the features of each. */
const EDITIONS: Readonly<Record<EditionName, EditionFeatures>> = {
  all: {
    dataRetentionPolicies: true,
    assessments: true,
    globalRemoteStateDefault: true,
    auditTrails: true,
    hosted: true,
  },
  hosted: {
    dataRetentionPolicies: false,
    assessments: true,
    globalRemoteStateDefault: false,
    auditTrails: true,
    hosted: true,
  },
  'self-hosted': {
    dataRetentionPolicies: true,
    assessments: false,
    globalRemoteStateDefault: true,
    auditTrails: false,
    hosted: false,
  },
};

/** The requested edition does not exist, or the dialect does not have it. */
class EditionError extends Error {
  override readonly name = 'EditionError';
}

/** The editions that a dialect has; the first is its default. */
interface DialectEditions {
  readonly name: string;
  readonly editions: readonly [EditionName, ...EditionName[]];
}

/**
 * The features of the edition of this name; without a name, of the dialect's default edition.
 * @throws EditionError for an edition that does not exist, or that the dialect does not have.
 */
export function chooseEdition(name: string | undefined, dialect: DialectEditions): EditionFeatures {
  const [first] = dialect.editions;
  const chosen = name === undefined ? first : dialect.editions.find((edition) => edition === name);
  if (chosen !== undefined) return EDITIONS[chosen];
  throw new EditionError(
    `no edition "${name}" of "${dialect.name}" is served: it has ${dialect.editions.join(', ')}`,
  );
}
