#import "Neolane_SDK.h"

@class NLSBackOff, NLSExchange, NLSFile;

/// Gets the outcomes of registrations.
@protocol NLSRegistrarOwner
- (void)registrationEnded:(ACCRegisterDeviceStatus)status reason:(NSString *)reason;
@end

/// Sends the newest registration to the server, once, by the rules of MobileSDK's RegistrationMachine.
///
/// One request is in progress at a time; a newer registration replaces those that were not sent yet. A registration is
/// stored before it is sent, and retried until the server accepts or refuses it. All methods must be called on one
/// thread.
@interface NLSRegistrar : NSObject {
@private
    NLSFile *_file;
    id <NLSRegistrarOwner> _owner;
    NLSBackOff *_backOff;
    NSString *_base;
    NSString *_key;
    /// The registration that the server is known to have, and which server. It is cleared as soon as another one is
    /// sent: if the answer is lost, it is unknown which of the two the server has.
    NSArray *_registered;
    /// The registration that is still to be sent.
    NSDictionary *_pending;
    /// The newest registration that the app requested, without an opt-out choice.
    NSDictionary *_last;
    /// The opt-out choices by user key: `true` for out; `false` for in again, until the server has it.
    NSMutableDictionary *_words;
    /// The opt-out choice of the user who registers next.
    NSString *_nextWord;
    /// The same choices by user key and category.
    NSMutableDictionary *_categories;
    /// The choices by category of the user who registers next.
    NSMutableDictionary *_nextCategories;
    NLSExchange *_flight;
    NSArray *_flightMark;
    /// The registration that was sent.
    NSDictionary *_flightSent;
    NSUInteger _flightCalls;
    BOOL _flightIsForgotten;
    /// Calls whose registration has not been sent yet.
    NSUInteger _waiting;
    NSTimer *_timer;
}

/// - Parameter owner: not retained.
- (id)initWithFile:(NLSFile *)file owner:(id <NLSRegistrarOwner>)owner;
- (void)setHost:(NSString *)host;
- (void)setIntegrationKey:(NSString *)key;
- (void)registerDevice:(NSDictionary *)registration;
- (void)setOptOut:(NSString *)word;
/// - Parameter words: choices by category, as for everything.
- (void)setCategories:(NSDictionary *)words;
- (void)retryNow;
- (void)forget;

@end
