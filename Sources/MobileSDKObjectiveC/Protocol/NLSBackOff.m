#import "NLSBackOff.h"

#include <math.h>
#include <stdlib.h>

/// The first pause in seconds, long enough for a phone to switch networks.
static const NSTimeInterval first = 5;
/// The maximum pause in seconds, so that a device that was offline for long is seen within an hour.
static const NSTimeInterval longest = 3600;
/// The maximum number of doublings: 5 s doubled 20 times far exceeds an hour.
static const unsigned maxFailures = 20;

@implementation NLSBackOff

- (NSTimeInterval)nextAtLeast:(NSTimeInterval)asked {
    NSTimeInterval doubled = MIN(ldexp(first, (int)_failures), longest);
    if (_failures < maxFailures) { _failures++; }
    double chance = 0.5 + 0.5 * (double)arc4random() / UINT32_MAX;
    return MAX(doubled * chance, asked);
}

- (void)reset {
    _failures = 0;
}

@end
