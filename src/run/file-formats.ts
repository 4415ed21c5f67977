/** The files and stores that trueup reads and writes, for its users. `npm run reference` writes docs/reference/files.md from this list. */
import { archiveTables } from '../audit-trail/postgres-archive.ts';
import { stateFolderName } from '../files/write-file.ts';
import { ledgerTables } from '../ledger/postgres-connection.ts';
import { stackFileName } from '../manifest/files/find-stack.ts';
import { historyVersion, ledgerVersion, movedLedgerVersion } from '../model/ledger.ts';
import { planVersion } from '../model/plan.ts';
import { quoted } from '../model/quoted.ts';
import { digestVersion } from '../plan/digest.ts';

interface FileFormat {
  readonly title: string;
  /** what it is for, in full sentences */
  readonly about: string;
  /** where it is: a path or a place, and when it is there */
  readonly places: readonly string[];
  readonly format: string;
  /** the version that is written, with the name of the member that holds it */
  readonly version: string;
  /** its JSON Schema, by the name that "trueup schema" knows */
  readonly schema?: string;
  /** who writes it, and whether it belongs in git, in full sentences */
  readonly keeping: string;
}

export const fileFormats: readonly FileFormat[] = [
  {
    title: 'Stack',
    about: 'The name of the stack, its targets, its manifests and its settings.',
    places: [`${quoted(stackFileName)}, or any other file whose path you give to a command`],
    format: 'YAML, one document of kind "Stack"',
    version: '"apiVersion: trueup.dev/v1"',
    schema: 'Stack',
    keeping: 'You write it. Commit it.',
  },
  {
    title: 'Manifests',
    about: 'The resources that the stack manages. A file can have several documents and kinds.',
    places: ['the files that "spec.manifests" of the stack matches', 'standard input, with "-"'],
    format:
      'YAML, any number of documents; the lists that "metadata.each" of a manifest names are YAML, JSON or CSV',
    version: '"apiVersion: trueup.dev/v1"',
    schema: 'Manifest',
    keeping: 'You write them; "export" and "accept" write them too. Commit them.',
  },
  {
    title: 'Plan file',
    about: 'A plan, for its review and its apply. A checksum protects it from changes.',
    places: ['the file that "plan --out FILE" names'],
    format: 'JSON',
    version: `${quoted(`version: ${planVersion}`)}; the digest has ${quoted(`digestVersion: ${digestVersion}`)}`,
    schema: 'Plan',
    keeping:
      'trueup writes it. Keep it as an artifact of the CI job, and do not commit it. It contains no secrets.',
  },
  {
    title: 'Ledger',
    about:
      'What the stack applied last: its records of resources, the identities of its targets, and the approval of an apply that has not succeeded yet.',
    places: [
      `with "ledger: local": ${quoted(`${stateFolderName}/<stack>.ledger.json`)} beside the stack file, or in the named folder`,
      'with "ledger: git": "ledger.json" in the ref "refs/trueup/<stack>" of the remote',
      `with "ledger: postgres": the table ${quoted(`${ledgerTables.schema}.ledgers`)}`,
    ],
    format: 'JSON with a checksum; the same text in all places',
    version: `${quoted(`version: ${ledgerVersion}`)}, and ${quoted(`version: ${movedLedgerVersion}`)} of one that was moved away, is an unfinished copy, or has resources that moved between stacks; older versions are read, newer ones are refused`,
    keeping:
      'Only trueup writes it. Do not edit it: "trueup recover" rebuilds a lost or damaged ledger. In a team, keep it in git or PostgreSQL.',
  },
  {
    title: 'Lock',
    about: 'Who is applying the stack at the moment. It never expires.',
    places: [
      quoted(`${stateFolderName}/<stack>.ledger.json.lock`),
      '"lock.json" in the ref "refs/trueup/<stack>"',
      `the table ${quoted(`${ledgerTables.schema}.locks`)}`,
    ],
    format: 'JSON',
    version: 'none',
    keeping: 'Apply writes and removes it. "trueup unlock" removes a lock that was left behind.',
  },
  {
    title: 'History',
    about:
      'One entry for each apply: who, when, from which commit, and each change with its values before and after.',
    places: [
      quoted(`${stateFolderName}/<stack>.history/<id>.json`),
      '"history/<id>.json" in the ref "refs/trueup/<stack>"',
      `the table ${quoted(`${ledgerTables.schema}.history`)}`,
    ],
    format: 'JSON, one file for each apply',
    version: quoted(`version: ${historyVersion}`),
    keeping:
      'Apply writes it, without secrets. "trueup history --format json" prints entries in the form of the schema "History".',
  },
  {
    title: 'Audit archive',
    about: 'Events of audit trails, for longer than the service keeps them.',
    places: [
      'a SQLite file, such as "audit: { archive: { file: .trueup/audit.db } }"',
      `the schema ${quoted(archiveTables.schema)} of a PostgreSQL database`,
    ],
    format: 'tables; each event is JSON as the service answered it',
    version: `${archiveTables.migrations.length}, in "user_version" of SQLite and ${quoted(`${archiveTables.schema}.migrations`)} of PostgreSQL`,
    keeping:
      '"trueup audit archive" writes it; do not commit it. "trueup audit list --archived --format json" prints events in the form of the schema "Audit".',
  },
  {
    title: 'Compiled code',
    about: 'The code of trueup as Node compiled it, so that the next start takes a third less.',
    places: ['"dist/compiled" of the installed package', 'the folder that "NODE_COMPILE_CACHE" names'],
    format:
      'of Node, after a checksum; a file of another version of Node or trueup, or a damaged one, is ignored',
    version: 'none',
    keeping:
      'Commands write it at their end. You can delete it. Nothing is written if the program belongs to another user, or if others may write to its folder.',
  },
];
