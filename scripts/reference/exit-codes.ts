/** docs/reference/exit-codes.md */
import { exitCodeMeanings } from '../../src/run/exit-code-meanings.ts';
import { blocks, header, table, withCode } from './page.ts';

export function exitCodesPage(): string {
  return blocks(
    header('src/run/exit-code-meanings.ts'),
    '# Exit codes',
    'Every command ends with one of these codes. `0` means success. `2` and `3` report a difference, and all others a problem.',
    table(
      ['code', 'name', 'when', 'what to do'],
      exitCodeMeanings.map(({ code, title, when, fix }) => [
        String(code),
        title,
        withCode(when),
        withCode(fix),
      ]),
    ),
    'If several errors have different codes, 7 comes before 9, and 9 before 1. [Errors](errors.md) lists every error with its class.',
  );
}
