#import <Foundation/Foundation.h>

/// How long to wait before the next try.
@interface NLSBackOff : NSObject {
@private
    unsigned _failures;
}

/// The seconds until the next try: doubled with each failure, and between a half and the whole of it by chance, so that the devices
/// that lost a server together do not come back together. A server may ask for more, up to a day.
- (NSTimeInterval)nextAtLeast:(NSTimeInterval)asked;

- (void)reset;

@end
