// The paper of the example: nothing is fetched for it, so it works wherever the page does.

/** A summary in our own words, written for demonstration; its hypothesis is in the button that fills it in. */
export const EXAMPLE_PAPER = `# Beta-carotene and lung cancer in male smokers (a summary for demonstration)

## Abstract
Diets rich in carotene had been linked to a lower risk of lung cancer, so supplements were hoped to protect smokers. \
We randomly assigned 29,133 male smokers in Finland to beta-carotene, alpha-tocopherol, both or placebo for five to eight years. \
Lung cancer was 18 percent more frequent in men who took beta-carotene than in men who did not. \
Beta-carotene did not reduce the risk of lung cancer in smokers, and may have raised it.

## Introduction
Men who eat many fruits and vegetables have fewer lung cancers, but they also differ from others in much else.

## Methods
The men were 50 to 69 years old and smoked at least five cigarettes a day. \
Those assigned to beta-carotene took 20 mg of it every day. \
New cancers were found through the national cancer registry.

## Results
During the trial 876 men developed lung cancer, more of them with beta-carotene than without it. \
Deaths from any cause were 8 percent more frequent with beta-carotene. \
Alpha-tocopherol neither raised nor lowered the number of lung cancers.

## Discussion
Whatever protects those who eat many vegetables, it is not beta-carotene taken as a pill. \
Smokers should not take beta-carotene in the hope of preventing lung cancer.`;
