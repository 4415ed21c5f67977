/** The order of test files: those of flows, which are short, come last, so that no worker has a long one left when the others have ended. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const isShort = ({ project }: TestSpecification) => project.name === 'flows';

export class ShortFilesLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter((file) => !isShort(file)), ...sorted.filter(isShort)];
  }
}
