#import <Foundation/Foundation.h>

/// The pauses between attempts.
@interface NLSBackOff : NSObject {
@private
    unsigned _failures;
}

/// The pause before the next attempt, in seconds. It doubles with each failure and is a random value between half and
/// the whole of that, so that devices that lost a server together do not return together. A server may ask for more, up
/// to a day.
- (NSTimeInterval)nextAtLeast:(NSTimeInterval)asked;

- (void)reset;

@end
