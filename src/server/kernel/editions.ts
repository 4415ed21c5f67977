/**
 * The editions of the service that the workspaces API is served as: a table of what each of them has.
 * Invariant: what an edition lacks is neither answered nor accepted: its endpoints are 404, its members are absent from
 * documents and ignored in bodies. Data of it stays in the data file, for an edition that has it.
 */

/** What not every edition has. */
export interface EditionFeatures {
  /** Data retention policies: their endpoints, and the relationship that names one. */
  readonly dataRetentionPolicies: boolean;
  /** `assessments-enabled` of workspaces, in bodies and in answers. */
  readonly assessments: boolean;
  /** Whether an organization's default for `global-remote-state` counts when a create leaves it out. */
  readonly globalRemoteStateDefault: boolean;
  /** The audit trail of an organization can be read. */
  readonly auditTrails: boolean;
  /** Whether answers name the hosted service, in dialects that have such a header. */
  readonly hosted: boolean;
}

export type EditionName = 'all' | 'hosted' | 'self-hosted';

/** What `--edition` takes, and what each edition has. */
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

/** An edition was asked for that is not served. */
class EditionError extends Error {
  override readonly name = 'EditionError';
}

/** The editions that a dialect has; the first is its default. */
interface DialectEditions {
  readonly name: string;
  readonly editions: readonly [EditionName, ...EditionName[]];
}

/**
 * What the edition of this name has; without a name the dialect's own default.
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
