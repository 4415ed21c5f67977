/** docs/reference/environment.md */
import { environmentVariables } from '../../src/run/environment-variables.ts';
import { blocks, header, table, withCode } from './page.ts';

export function environmentPage(): string {
  return blocks(
    header('src/run/environment-variables.ts'),
    '# Environment variables',
    'These are the environment variables that trueup itself reads. All of them are optional.',
    'A stack can name more of them as sources of secrets, such as `token: { env: NAME }`. trueup reads a secret when it needs it, and never prints or stores it.',
    environmentVariables.flatMap(({ title, about, variables }) => [
      `## ${title}`,
      withCode(about),
      table(
        ['variable', 'use'],
        Object.entries(variables).map(([name, use]) => [`\`${name}\``, withCode(use)]),
      ),
    ]),
  );
}
