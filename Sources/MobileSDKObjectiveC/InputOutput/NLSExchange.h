#import <Foundation/Foundation.h>

/// What became of a request.
@interface NLSAnswer : NSObject {
@public
    /// The HTTP status; 0 when no answer came.
    NSInteger status;
    /// The first line that the server said, or why no answer came.
    NSString *reason;
    /// The seconds that the server asked for with `Retry-After`; 0 when it did not.
    NSTimeInterval retryAfter;
}

+ (NLSAnswer *)status:(NSInteger)status reason:(NSString *)reason retryAfter:(NSTimeInterval)retryAfter;

/// Whether the same request may succeed later: nobody answered, or a server that is busy or broken, or something between here and
/// there, as the network of a hotel, sends its clients to a page of its own.
- (BOOL)isWorthRetrying;

@end

/// One request and its answer, in the run loop of the thread that starts it.
///
/// NSURLConnection is old, but it is what both systems have: GNUstep's Foundation on Debian comes without NSURLSession, so what runs
/// on a phone is what the tests run.
@interface NLSExchange : NSObject {
@private
    NSURLRequest *_request;
    NSURLConnection *_connection;
    NSTimer *_deadline;
    NSMutableData *_body;
    NSInteger _status;
    NSTimeInterval _retryAfter;
    id _target;
    SEL _action;
}

/// Sends a GET, or a POST of the form if there is one. The target, which is not retained, is told once, with an NLSAnswer, unless the
/// exchange is cancelled before.
+ (NLSExchange *)send:(NSString *)address form:(NSString *)form target:(id)target action:(SEL)action;

/// Ends it without a word.
- (void)cancel;

@end
