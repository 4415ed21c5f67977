/** A process that enters a critical section, prints that, and stays inside until it gets input. */
import { withExclusiveFile } from '../../../src/ledger/exclusive-file.ts';

const [guard = ''] = process.argv.slice(2);
await withExclusiveFile(guard, async () => {
  process.stdout.write('inside\n');
  await new Promise((resolve) => {
    process.stdin.once('data', resolve);
  });
  process.stdout.write('leaving\n');
});
process.stdin.destroy();
