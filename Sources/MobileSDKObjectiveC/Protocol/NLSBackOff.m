#import "NLSBackOff.h"

#include <math.h>
#include <stdlib.h>

/// Long enough for a phone to change from one network to another.
static const NSTimeInterval first = 5;
/// A device that was off line for long is seen within an hour.
static const NSTimeInterval longest = 3600;
/// 5 s doubled 20 times is far beyond an hour.
static const unsigned mostFailures = 20;

@implementation NLSBackOff

- (NSTimeInterval)nextAtLeast:(NSTimeInterval)asked {
    NSTimeInterval doubled = MIN(ldexp(first, (int)_failures), longest);
    if (_failures < mostFailures) { _failures++; }
    double chance = 0.5 + 0.5 * (double)arc4random() / UINT32_MAX;
    return MAX(doubled * chance, asked);
}

- (void)reset {
    _failures = 0;
}

@end
