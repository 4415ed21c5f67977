/** docs/reference/files.md */
import { allSchemas } from '../../src/commands/schema.ts';
import { kinds } from '../../src/kinds/index.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { fileFormats } from '../../src/run/file-formats.ts';
import { schemaFileName } from '../write-schemas.ts';
import { blocks, header, plain, table, withCode } from './page.ts';

function schemaLink(name: string): string {
  const file = schemaFileName(name);
  return `[${file}](../../schemas/${file})`;
}

function titleOf(schema: JsonObject): string {
  const text =
    typeof schema['description'] === 'string' ? schema['description'] : String(schema['title'] ?? '');
  return text.startsWith('trueup ') ? `the JSON that \`${text}\` prints` : plain(withCode(text));
}

export function filesPage(): string {
  return blocks(
    header('src/run/file-formats.ts and the JSON Schemas'),
    '# Files',
    'The files and stores that trueup reads and writes. The folder `.trueup` has a `.gitignore` of its own and is readable by its owner only.',
    fileFormats.flatMap(({ title, about, places, format, version, schema, keeping }) => [
      `## ${title}`,
      about,
      [
        ...(places.length === 1
          ? [`- Place: ${plain(withCode(places.join('')))}`]
          : ['- Places:', ...places.map((place) => `  - ${plain(withCode(place))}`)]),
        `- Format: ${plain(withCode(format))}`,
        `- Version: ${plain(withCode(version))}`,
        ...(schema === undefined ? [] : [`- Schema: ${schemaLink(schema)}`]),
      ].join('\n'),
      plain(withCode(keeping)),
    ]),
    '## JSON Schemas',
    '`trueup schema NAME` prints a schema, and `trueup schema` lists the names. The files are in the package, for editors and scripts.',
    table(
      ['name', 'file', 'what it describes'],
      [...allSchemas(kinds)].map(([name, schema]) => [`\`${name}\``, schemaLink(name), titleOf(schema)]),
    ),
  );
}
