/** Schemas of the places of a stack: its ledger, the archive of audit trails, the sources of secrets and of policies. */
import { Type } from 'typebox';

export const closed = { additionalProperties: false };
export const text = (description: string, example: string) =>
  Type.String({ minLength: 1, description, examples: [example] });

/** Exactly one of several members: expressed by their count and not by a union, because that gives better messages. */
export const oneMember = { ...closed, minProperties: 1, maxProperties: 1 };

export const env = Type.String({
  pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
  patternErrorMessage: 'the name of an environment variable: letters, digits and "_"',
  description: 'Name of the environment variable that holds it',
  examples: ['SERVICE_TOKEN'],
});
export const file = text('Path of the file that holds it', '/run/secrets/token');

export const SecretSource = Type.Object(
  { env: Type.Optional(env), file: Type.Optional(file) },
  { ...oneMember, description: 'Source of the secret, read when it is needed; never the secret itself' },
);

type SecretDocument = { readonly env?: string; readonly file?: string };

/** A word, or a map with one member. Each keyword applies to values of its own type only, as in the stack's schema. */
export const Ledger = Type.Unsafe<LedgerDocument>({
  type: ['string', 'object'],
  pattern: '^(local|git|postgres)$',
  patternErrorMessage: '"local", "git" or "postgres"',
  ...oneMember,
  properties: {
    local: Type.Object(
      {
        folder: Type.String({
          pattern: String.raw`^(?!/|.*(?:^|/)\.\.(?:/|$))[^\\:]+$`,
          patternErrorMessage: 'a folder beside or below this file, such as ledger',
          description: 'Folder below this file; unlike ".trueup", git does not ignore it',
          examples: ['ledger'],
        }),
      },
      { ...closed, description: 'In a file in this folder; "local" alone keeps it in ".trueup"' },
    ),
    git: Type.Object(
      {
        remote: Type.Optional(
          Type.String({
            pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
            patternErrorMessage: 'the name of a remote such as origin, not its address',
            description: 'Remote whose ref "refs/trueup/<stack>" holds the ledger',
            default: 'origin',
            examples: ['upstream'],
          }),
        ),
      },
      { ...closed, description: "In a ref of the repository's remote" },
    ),
    postgres: Type.Object(
      { url: SecretSource },
      { ...closed, description: 'In PostgreSQL: "postgres" alone reads its address from TRUEUP_LEDGER_URL' },
    ),
  },
  description: 'Where the record of what was applied is kept; "local" is a file beside this one',
  default: 'local',
  examples: ['git'],
});

export type LedgerDocument =
  | 'local'
  | 'git'
  | 'postgres'
  | {
      readonly local?: { readonly folder: string };
      readonly git?: { readonly remote?: string };
      readonly postgres?: { readonly url: SecretDocument };
    };

/** A word, or a map with one member, as above. */
export const Archive = Type.Unsafe<ArchiveDocument>({
  type: ['string', 'object'],
  pattern: '^postgres$',
  patternErrorMessage: '"postgres", or a map such as { file: audit.db }',
  ...oneMember,
  properties: {
    file: Type.String({
      pattern: String.raw`^(?!/|.*(?:^|/)\.\.(?:/|$))[^\\:]*[^\\:/]$`,
      patternErrorMessage: 'a file beside or below this one, such as .trueup/audit.db, and no address',
      description: 'SQLite file beside or below this one',
      examples: ['.trueup/audit.db'],
    }),
    postgres: Type.Object(
      { url: SecretSource },
      { ...closed, description: 'In PostgreSQL: "postgres" alone reads its address from TRUEUP_AUDIT_URL' },
    ),
  },
  description: 'Where "trueup audit archive" keeps the audit trails, for longer than the service does',
  examples: ['postgres'],
});

export type ArchiveDocument =
  | 'postgres'
  | { readonly file?: string; readonly postgres?: { readonly url: SecretDocument } };

/** The schema of `spec.policies`: where the policies of a stack come from. */
export const Policies = Type.Object(
  {
    files: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^(?!!|-$).',
          patternErrorMessage: 'a file, a folder or a pattern such as policies/*.yaml',
        }),
        {
          minItems: 1,
          description:
            'Files of policies by path or pattern, relative to this file. They belong to the stack: a change that loosens one trips the guard "loosened"',
          examples: [['policies/*.yaml']],
        },
      ),
    ),
    from: Type.Optional(
      Type.Object(
        {
          git: Type.Object(
            {
              remote: Type.String({
                pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
                patternErrorMessage: 'the name of a remote of the clone, such as origin',
                description: 'Name of a remote of the clone',
                examples: ['origin'],
              }),
              ref: Type.String({
                pattern: String.raw`^(?!.*(?:\.\.|//|@\{))[A-Za-z0-9][A-Za-z0-9._/-]*$`,
                patternErrorMessage: 'a branch or a tag, such as main',
                description: 'Branch or tag; of two with the same name the branch',
                examples: ['main'],
              }),
              path: Type.String({
                pattern: String.raw`^(?!/|.*(?:^|/)\.\.(?:/|$))[^\\:]+$`,
                patternErrorMessage: 'a file or a folder in the repository, such as policies',
                description: 'File, or folder with all files below it, from the root of the repository',
                examples: ['policies'],
              }),
            },
            { ...closed, description: 'A branch or a tag of a remote' },
          ),
        },
        { ...closed, description: 'Where policies are that a change of the stack cannot change' },
      ),
    ),
  },
  {
    ...closed,
    minProperties: 1,
    description: 'Rules of the organization about the changes of a plan; left out: none',
    examples: [{ from: { git: { remote: 'origin', ref: 'main', path: 'policies' } } }],
  },
);
