/**
 * The form of one file, or why it has none. Of files that are not a stack's own only manifests are formatted: other programs read
 * other YAML by other rules, in which quotes change a value.
 */
import { UnusualYaml } from '../../manifest/edit/source-tree.ts';
import { standardInput } from '../../manifest/files/find-stack.ts';
import { formatText, type SchemaOf, schemasOf } from '../../manifest/format/format-text.ts';
import { findHidden } from '../../manifest/yaml/hidden-parts.ts';
import { parseDocuments } from '../../manifest/yaml/parse-documents.ts';
import { secretNames } from '../../manifest/yaml/secret-fields.ts';
import {
  createSourceText,
  placeIn,
  type SourceText,
  type YamlDocument,
} from '../../manifest/yaml/yaml-document.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { jsonSchema } from '../../model/define-kind.ts';
import { memberOf } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { policySchema } from '../../policies/schema.ts';
import { printable } from '../../report/view/printable.ts';
import type { CliHost } from '../../run/host.ts';

/** How a file was chosen: as a file that a stack reads, by its own name, or by a directory around it. */
export type Origin = 'stack' | 'name' | 'directory';

/** @returns the form of the text, why there is none, or undefined for a file of a directory that is not all manifests */
type Format = (file: string, text: string, origin: Origin) => string | readonly Diagnostic[] | undefined;

export function openFormat({ kinds }: CliHost): Format {
  const names = secretNames(kinds);
  const ofManifests = schemasOf(kinds);
  const schemaOf: SchemaOf = (value) =>
    memberOf(value, 'kind') === 'Policy' ? jsonSchema(policySchema) : ofManifests(value);
  return (file, text, origin) => {
    try {
      const source = createSourceText(file, text, (whole) => findHidden(whole, names));
      const other = origin === 'stack' ? undefined : findOther(source, schemaOf);
      if (other !== undefined && origin === 'directory') return undefined;
      return other?.document === undefined
        ? formatText(source, schemaOf)
        : [refuseOther(file, other.document)];
    } catch (error) {
      return [leftAsItIs(file, error)];
    }
  };
}

/** @returns the first document that is not a manifest, without it if there are no manifests, or undefined if all are manifests */
function findOther(source: SourceText, schemaOf: SchemaOf): { readonly document?: YamlDocument } | undefined {
  const { documents, diagnostics } = parseDocuments(source);
  if (diagnostics.length > 0) return source.text.includes(apiGroup) ? undefined : {};
  const document = documents.find((each) => !isManifest(each, schemaOf));
  if (document !== undefined) return { document };
  return documents.length === 0 ? {} : undefined;
}

const apiGroup = 'trueup.dev/';

function isManifest({ value }: YamlDocument, schemaOf: SchemaOf): boolean {
  const version = memberOf(value, 'apiVersion');
  return typeof version === 'string' && version.startsWith(apiGroup) && schemaOf(value) !== undefined;
}

function refuseOther(file: string, document: YamlDocument): Diagnostic {
  return {
    ...notFormattable(
      file,
      'it has a document that is not a manifest, which other programs may read differently',
    ),
    place: placeIn(document, []),
    fix: 'format only files in which each document has "apiVersion: trueup.dev/v1" and a kind of trueup',
  };
}

/** Only the name of an unexpected error is shown: its message may have parts of the file. */
function leftAsItIs(file: string, error: unknown): Diagnostic {
  if (error instanceof UnusualYaml)
    return {
      ...notFormattable(file, error.message),
      fix: 'change what the message names; an anchor must be above its aliases when the members are in order',
    };
  const name = error instanceof Error ? error.name : typeof error;
  return {
    ...notFormattable(file, `trueup failed on it with ${printable(name)}`),
    fix: 'report this as a bug of trueup, with the part of the file that causes it',
  };
}

function notFormattable(file: string, reason: string): Diagnostic {
  const shown = file === standardInput ? 'standard input' : quoted(printable(file));
  return {
    code: 'not-formattable',
    severity: 'error',
    class: 'failure',
    message: `${shown} cannot be formatted and is left as it is: ${reason}`,
  };
}
