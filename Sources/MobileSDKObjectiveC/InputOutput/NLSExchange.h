#import <Foundation/Foundation.h>

/// The result of a request.
@interface NLSAnswer : NSObject {
@public
    /// The HTTP status; 0 if there was no answer.
    NSInteger status;
    /// The first line of the answer, or why there was none.
    NSString *reason;
    /// The seconds of the header `Retry-After`; 0 without it.
    NSTimeInterval retryAfter;
}

+ (NLSAnswer *)status:(NSInteger)status reason:(NSString *)reason retryAfter:(NSTimeInterval)retryAfter;

/// Whether the same request may succeed later. This is so if there was no answer, if the server is busy or broken, or
/// if something in between redirected the request, as the network of a hotel does.
- (BOOL)isWorthRetrying;

@end

/// A request and its answer, in the run loop of the thread that starts it.
///
/// It uses the old NSURLConnection because both systems have it. GNUstep's Foundation on Debian lacks NSURLSession, and
/// the tests should run the same code as phones.
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

/// Sends a GET, or a POST if there is a form. The target, which is not retained, is called once with an NLSAnswer,
/// unless the exchange is cancelled before.
+ (NLSExchange *)send:(NSString *)address form:(NSString *)form target:(id)target action:(SEL)action;

/// Cancels the exchange without calling the target.
- (void)cancel;

@end
