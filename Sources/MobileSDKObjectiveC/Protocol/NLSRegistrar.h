#import "Neolane_SDK.h"

@class NLSBackOff, NLSExchange, NLSFile;

/// Hears how registrations end.
@protocol NLSRegistrarOwner
- (void)registrationEnded:(ACCRegisterDeviceStatus)status reason:(NSString *)reason;
@end

/// Brings the newest registration to the server, once, by the rules of MobileSDK's RegistrationMachine.
///
/// One request is under way at a time; a newer registration replaces those that were not sent yet. What is not registered is stored
/// before it is sent, and tried again until the server has it or refuses it. All methods are called in one thread.
@interface NLSRegistrar : NSObject {
@private
    NLSFile *_file;
    id <NLSRegistrarOwner> _owner;
    NLSBackOff *_backOff;
    NSString *_base;
    NSString *_key;
    /// What the server is known to have, and where. It is taken back as soon as something else is sent: if the answer is lost, nobody
    /// knows which of the two the server has.
    NSArray *_registered;
    /// What is still to be sent.
    NSDictionary *_pending;
    /// The newest that the app asked for, without what its person says of an opt-out.
    NSDictionary *_last;
    /// What persons have said of an opt-out, by user key: `true`, or `false` as long as the server does not have it.
    NSMutableDictionary *_words;
    /// What the person said who registers next.
    NSString *_nextWord;
    NLSExchange *_flight;
    NSArray *_flightMark;
    NSUInteger _flightCalls;
    BOOL _flightIsForgotten;
    /// Calls whose registration was not sent yet.
    NSUInteger _waiting;
    NSTimer *_timer;
}

/// - Parameter owner: it is not retained.
- (id)initWithFile:(NLSFile *)file owner:(id <NLSRegistrarOwner>)owner;
- (void)setHost:(NSString *)host;
- (void)setIntegrationKey:(NSString *)key;
- (void)registerDevice:(NSDictionary *)registration;
- (void)setOptOut:(NSString *)word;
- (void)retryNow;
- (void)forget;

@end
