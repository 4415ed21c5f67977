/** The order of test files: the short ones of flows run last, so that no worker starts a long one when the others have finished. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const isShort = ({ project }: TestSpecification) => project.name === 'flows';

export class ShortFilesLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter((file) => !isShort(file)), ...sorted.filter(isShort)];
  }
}
