#import <Foundation/Foundation.h>

@class NLSBackOff, NLSExchange, NLSFile;

/// Brings tracking hits to the server, in order, and keeps them while it cannot be reached, by the rules of MobileSDK's
/// TrackingMachine.
///
/// A hit whose answer is lost is sent again, so a server may see it twice. After a failure there is a pause, in which new hits are
/// only queued. All methods are called in one thread.
@interface NLSTracker : NSObject {
@private
    NLSFile *_file;
    NLSBackOff *_backOff;
    NSString *_base;
    /// Paths that the server does not have yet, and how often it answered that it could not take each.
    NSMutableArray *_paths;
    NSMutableArray *_refusals;
    /// It sends the first path.
    NLSExchange *_flight;
    NSTimer *_timer;
    /// Until when the server asked to be left alone; nobody ends that but the clock.
    NSDate *_asked;
}

- (id)initWithFile:(NLSFile *)file;
- (void)setHost:(NSString *)host;
- (void)track:(NSString *)path;
- (void)retryNow;

@end
