#import <Foundation/Foundation.h>

@class NLSBackOff, NLSExchange, NLSFile;

/// Sends tracking hits to the server in order, and keeps them while it cannot be reached, by the rules of MobileSDK's
/// TrackingMachine.
///
/// A hit whose answer is lost is sent again, so a server may see it twice. After a failure there is a pause in which
/// new hits are only queued. All methods must be called on one thread.
@interface NLSTracker : NSObject {
@private
    NLSFile *_file;
    NLSBackOff *_backOff;
    NSString *_base;
    /// The paths that are still to be sent, and how often a server answered each but could not accept it.
    NSMutableArray *_paths;
    NSMutableArray *_refusals;
    /// The request in progress, which sends the first path.
    NLSExchange *_flight;
    NSTimer *_timer;
    /// What the path of the last opened notification has before its tag; nil if none was opened.
    NSString *_opened;
    /// The time until which the server asked to wait; it cannot be ended early.
    NSDate *_asked;
}

- (id)initWithFile:(NLSFile *)file;
- (void)setHost:(NSString *)host;
- (void)track:(NSString *)path;
/// Sends a conversion of the last opened notification, given by the end of its path.
- (void)convert:(NSString *)end;
- (void)retryNow;

@end
