#import "NLSRegistrar.h"

#import "../InputOutput/NLSExchange.h"
#import "../InputOutput/NLSFile.h"
#import "NLSBackOff.h"
#import "NLSForm.h"

/// The keys of the file.
static NSString *const registeredName = @"registered";
static NSString *const pendingName = @"pending";
static NSString *const lastName = @"last";
static NSString *const wordsName = @"words";
static NSString *const nextWordName = @"nextWord";
static NSString *const categoriesName = @"categories";
static NSString *const nextCategoriesName = @"nextCategories";

/// A list of strings from a file, or nil.
static NSArray *texts(id value) {
    if (![value isKindOfClass:[NSArray class]]) { return nil; }
    for (NSUInteger index = 0; index < [value count]; index++) {
        if (![[value objectAtIndex:index] isKindOfClass:[NSString class]]) { return nil; }
    }
    return value;
}

/// A dictionary of strings from a file; empty for anything else.
static NSDictionary *words(id value) {
    BOOL hasWords = [value isKindOfClass:[NSDictionary class]] && texts([value allValues]) != nil;
    return hasWords ? value : [NSDictionary dictionary];
}

/// The names of the categories with this choice, with commas between them; nil for none.
static NSString *names(NSDictionary *categories, NSString *word) {
    NSArray *all = [[categories allKeysForObject:word] sortedArrayUsingSelector:@selector(compare:)];
    return [all count] == 0 ? nil : [all componentsJoinedByString:@","];
}

/// A registration from a file, or nil.
static NSDictionary *registration(id value) {
    if (![value isKindOfClass:[NSDictionary class]] || texts([value allValues]) == nil || [value objectForKey:NLSToken] == nil
        || [value objectForKey:NLSUserKey] == nil || [value objectForKey:NLSParameters] == nil) {
        return nil;
    }
    return value;
}

@interface NLSRegistrar (Sending)
- (NSDictionary *)complete:(NSDictionary *)registration;
- (NSDictionary *)worded:(NSDictionary *)registration;
- (NSDictionary *)settled:(NSDictionary *)registration;
- (NSMutableDictionary *)categoriesOf:(NSString *)user;
- (void)tell;
- (void)settle:(NSDictionary *)sent;
- (NSArray *)settledMark;
- (void)setLast:(NSDictionary *)registration;
- (void)setNextWord:(NSString *)word;
- (NSArray *)mark:(NSDictionary *)registration;
- (void)setPending:(NSDictionary *)registration;
- (void)setRegistered:(NSArray *)mark;
- (void)store;
- (void)send;
- (void)answered:(NLSAnswer *)answer;
- (void)report:(ACCRegisterDeviceStatus)status reason:(NSString *)reason times:(NSUInteger)times;
@end

@implementation NLSRegistrar

- (id)initWithFile:(NLSFile *)file owner:(id <NLSRegistrarOwner>)owner {
    self = [super init];
    if (self == nil) { return nil; }
    _file = [file retain];
    _owner = owner;
    _backOff = [[NLSBackOff alloc] init];
    NSDictionary *record = [file read];
    _registered = [texts([record objectForKey:registeredName]) retain];
    _pending = [registration([record objectForKey:pendingName]) retain];
    _last = [registration([record objectForKey:lastName]) retain];
    _words = [[NSMutableDictionary alloc] initWithDictionary:words([record objectForKey:wordsName])];
    _nextCategories = [[NSMutableDictionary alloc] initWithDictionary:words([record objectForKey:nextCategoriesName])];
    _categories = [[NSMutableDictionary alloc] init];
    id users = [record objectForKey:categoriesName];
    if ([users isKindOfClass:[NSDictionary class]]) {
        NSEnumerator *keys = [users keyEnumerator];
        id user;
        while ((user = [keys nextObject]) != nil) {
            if ([user isKindOfClass:[NSString class]]) { [[self categoriesOf:user] addEntriesFromDictionary:words([users objectForKey:user])]; }
        }
    }
    id next = [record objectForKey:nextWordName];
    if ([next isKindOfClass:[NSString class]]) { _nextWord = [next copy]; }
    return self;
}

- (void)dealloc {
    [_flight cancel];
    [_timer invalidate];
    [_file release];
    [_backOff release];
    [_base release];
    [_key release];
    [_registered release];
    [_pending release];
    [_last release];
    [_words release];
    [_nextWord release];
    [_categories release];
    [_nextCategories release];
    [_flightSent release];
    [_flight release];
    [_flightMark release];
    [super dealloc];
}

- (void)setHost:(NSString *)host {
    NSString *base = [NLSForm base:host];
    if (base == _base || [base isEqual:_base]) { return; }
    [_base release];
    _base = [base copy];
    [self send];
}

- (void)setIntegrationKey:(NSString *)key {
    if ([key length] == 0) { key = nil; }
    if (key == _key || [key isEqual:_key]) { return; }
    [_key release];
    _key = [key copy];
    [self send];
}

- (void)registerDevice:(NSDictionary *)wanted {
    if (_base == nil) { return [self report:ACCRegisterDeviceStatusFailureMarketingServerHostnameEmpty reason:nil times:1]; }
    if (_key == nil) { return [self report:ACCRegisterDeviceStatusFailureIntegrationKeyEmpty reason:nil times:1]; }
    wanted = [self complete:wanted];
    [self setLast:wanted];
    NSDictionary *registration = [self worded:wanted];
    NSArray *mark = [self mark:registration];
    if (_flight != nil && [_flightMark isEqual:mark]) {
        _flightCalls += _waiting + 1;
        _flightIsForgotten = NO;
        _waiting = 0;
        [self setPending:registration];
        return [self store];
    }
    if (_flight == nil && [_registered isEqual:mark]) {
        [self setPending:nil];
        [self store];
        return [self report:ACCRegisterDeviceStatusSuccess reason:nil times:1];
    }
    [self setPending:registration];
    _waiting++;
    if (_flight != nil) { return [self store]; }
    [_backOff reset];
    [self send];
}

- (void)setOptOut:(NSString *)word {
    if (_last == nil) {
        [self setNextWord:word];
        return [self store];
    }
    [_words setObject:word forKey:[_last objectForKey:NLSUserKey]];
    [self tell];
}

- (void)setCategories:(NSDictionary *)said {
    if (_last == nil) {
        [_nextCategories addEntriesFromDictionary:said];
        return [self store];
    }
    [[self categoriesOf:[_last objectForKey:NLSUserKey]] addEntriesFromDictionary:said];
    [self tell];
}

- (void)retryNow {
    [self send];
}

- (void)forget {
    [self setPending:nil];
    [self setLast:nil];
    [self setRegistered:nil];
    _flightIsForgotten = YES;
    _flightCalls += _waiting;
    _waiting = 0;
    [self store];
}

@end

@implementation NLSRegistrar (Sending)

/// Identifies a registration and its server: registrations with the same mark have the same contents and the same
/// server.
- (NSArray *)mark:(NSDictionary *)registration {
    if (_base == nil || _key == nil) { return nil; }
    NSMutableArray *mark = [NSMutableArray arrayWithObjects:_base, _key, [registration objectForKey:NLSToken],
        [registration objectForKey:NLSUserKey], [registration objectForKey:NLSParameters], nil];
    NSArray *choices = [NSArray arrayWithObjects:NLSOptOut, NLSCategoriesOut, NLSCategoriesIn, nil];
    for (NSUInteger index = 0; index < [choices count]; index++) {
        NSString *choice = [registration objectForKey:[choices objectAtIndex:index]];
        [mark addObject:(choice == nil ? @"" : choice)];
    }
    NSString *zone = [registration objectForKey:NLSTimeZone];
    if (zone != nil) { [mark addObject:[@"in " stringByAppendingString:zone]]; }
    return mark;
}

/// The mark of what the server has after a success: server and key are those of the request.
- (NSArray *)settledMark {
    NSDictionary *settled = [self settled:_flightSent];
    NSMutableArray *mark = [NSMutableArray arrayWithArray:_flightMark];
    if ([settled objectForKey:NLSOptOut] == nil) { [mark replaceObjectAtIndex:5 withObject:@""]; }
    [mark replaceObjectAtIndex:7 withObject:@""];
    return mark;
}

/// The registration with its parameters filled in if the app passed none: the same user keeps the last ones, and a new
/// user has none.
- (NSDictionary *)complete:(NSDictionary *)registration {
    BOOL isSameUser = [[_last objectForKey:NLSUserKey] isEqual:[registration objectForKey:NLSUserKey]];
    NSString *kept = isSameUser ? [_last objectForKey:NLSParameters] : nil;
    NSMutableDictionary *completed = [NSMutableDictionary dictionaryWithDictionary:registration];
    [completed setObject:[NLSForm parametersXML:[registration objectForKey:NLSParameters] kept:kept] forKey:NLSParameters];
    return completed;
}

/// The choices of a user by category, to be changed.
- (NSMutableDictionary *)categoriesOf:(NSString *)user {
    NSMutableDictionary *own = [_categories objectForKey:user];
    if (own == nil) {
        own = [NSMutableDictionary dictionary];
        [_categories setObject:own forKey:user];
    }
    return own;
}

/// The registration without opt-ins, which are sent only once.
- (NSDictionary *)settled:(NSDictionary *)registration {
    NSMutableDictionary *settled = [NSMutableDictionary dictionaryWithDictionary:registration];
    if ([[settled objectForKey:NLSOptOut] isEqual:@"false"]) { [settled removeObjectForKey:NLSOptOut]; }
    [settled removeObjectForKey:NLSCategoriesIn];
    return settled;
}

/// Forgets the opt-ins that the server has, unless the user has said something else since.
- (void)settle:(NSDictionary *)sent {
    NSString *user = [sent objectForKey:NLSUserKey];
    if ([[sent objectForKey:NLSOptOut] isEqual:@"false"] && [[_words objectForKey:user] isEqual:@"false"]) {
        [_words removeObjectForKey:user];
    }
    NSMutableDictionary *own = [_categories objectForKey:user];
    NSArray *ins = [[sent objectForKey:NLSCategoriesIn] componentsSeparatedByString:@","];
    for (NSUInteger index = 0; index < [ins count]; index++) {
        NSString *category = [ins objectAtIndex:index];
        if ([[own objectForKey:category] isEqual:@"false"]) { [own removeObjectForKey:category]; }
    }
    if (own != nil && [own count] == 0) { [_categories removeObjectForKey:user]; }
}

/// The registration with its user's opt-out choices. An opt-out is sent with every registration. An opt-in is sent
/// once, because a choice made elsewhere later is newer.
- (NSDictionary *)worded:(NSDictionary *)registration {
    NSString *user = [registration objectForKey:NLSUserKey];
    if (_nextWord != nil) {
        [_words setObject:_nextWord forKey:user];
        [self setNextWord:nil];
    }
    if ([_nextCategories count] > 0) {
        [[self categoriesOf:user] addEntriesFromDictionary:_nextCategories];
        [_nextCategories removeAllObjects];
    }
    NSDictionary *own = [_categories objectForKey:user];
    NSString *word = [_words objectForKey:user];
    NSString *outs = names(own, @"true");
    NSString *ins = names(own, @"false");
    NSMutableDictionary *worded = [NSMutableDictionary dictionaryWithDictionary:registration];
    if (word != nil) { [worded setObject:word forKey:NLSOptOut]; }
    if (outs != nil) { [worded setObject:outs forKey:NLSCategoriesOut]; }
    if (ins != nil) { [worded setObject:ins forKey:NLSCategoriesIn]; }
    return worded;
}

/// Sends the current registration with changed choices, unless the server has them.
- (void)tell {
    NSDictionary *registration = [self worded:_last];
    NSArray *mark = [self mark:registration];
    BOOL isThere = _flight == nil && mark != nil && [_registered isEqual:mark];
    [self setPending:(isThere ? nil : registration)];
    [self store];
    if (isThere || _flight != nil) { return; }
    [_backOff reset];
    [self send];
}

- (void)setLast:(NSDictionary *)registration {
    [_last autorelease];
    _last = [registration copy];
}

- (void)setNextWord:(NSString *)word {
    [_nextWord autorelease];
    _nextWord = [word copy];
}

- (void)setPending:(NSDictionary *)registration {
    [_pending autorelease];
    _pending = [registration copy];
}

- (void)setRegistered:(NSArray *)mark {
    [_registered autorelease];
    _registered = [mark copy];
}

- (void)store {
    NSMutableDictionary *record = [NSMutableDictionary dictionary];
    if (_registered != nil) { [record setObject:_registered forKey:registeredName]; }
    if (_pending != nil) { [record setObject:_pending forKey:pendingName]; }
    if (_last != nil) { [record setObject:_last forKey:lastName]; }
    if ([_words count] > 0) { [record setObject:_words forKey:wordsName]; }
    if (_nextWord != nil) { [record setObject:_nextWord forKey:nextWordName]; }
    if ([_categories count] > 0) { [record setObject:_categories forKey:categoriesName]; }
    if ([_nextCategories count] > 0) { [record setObject:_nextCategories forKey:nextCategoriesName]; }
    [_file write:record];
}

/// Sends the pending registration, unless a request is in progress.
- (void)send {
    NSArray *mark = [self mark:_pending];
    if (_flight != nil || _pending == nil || mark == nil) { return; }
    [_timer invalidate];
    _timer = nil;
    [_flightMark release];
    _flightMark = [mark retain];
    [_flightSent release];
    _flightSent = [_pending retain];
    _flightCalls = _waiting;
    _flightIsForgotten = NO;
    _waiting = 0;
    [self setRegistered:nil];
    [self store];
    NSString *body = [NLSForm body:_pending integrationKey:_key];
    NSString *address = [_base stringByAppendingString:@"/nms/mobile/1/registerIOS.jssp"];
    _flight = [[NLSExchange send:address form:body target:self action:@selector(answered:)] retain];
}

- (void)answered:(NLSAnswer *)answer {
    [_flight autorelease];
    _flight = nil;
    NSUInteger calls = _flightCalls;
    // Settings may have been removed in the meantime; then the pending registration is still the one that was sent.
    NSArray *mark = [self mark:_pending];
    BOOL isNewest = _pending != nil && (mark == nil || [mark isEqual:_flightMark]);
    BOOL retries = [answer isWorthRetrying] && isNewest;
    if (isNewest && !retries) { [self setPending:nil]; }
    if (answer->status == 200) {
        [self settle:_flightSent];
        if (!_flightIsForgotten) { [self setRegistered:[self settledMark]]; }
    }
    if (!retries) { [self store]; }
    // Without a waiting call, only the final outcome is reported.
    if (calls > 0 || ![answer isWorthRetrying]) {
        NSUInteger times = MAX(calls, 1u);
        switch (answer->status) {
            case 200: [self report:ACCRegisterDeviceStatusSuccess reason:nil times:times]; break;
            case 404: [self report:ACCRegisterDeviceStatusFailureUnknownUUID reason:nil times:times]; break;
            case 0: [self report:ACCRegisterDeviceStatusFailureConnectionIssue reason:answer->reason times:times]; break;
            default: [self report:ACCRegisterDeviceStatusFailureUnexpectedError reason:answer->reason times:times];
        }
    }
    if (!retries) {
        [_backOff reset];
        return [self send];
    }
    _timer = [NSTimer scheduledTimerWithTimeInterval:[_backOff nextAtLeast:answer->retryAfter]
                                              target:self
                                            selector:@selector(timerFired:)
                                            userInfo:nil
                                             repeats:NO];
}

- (void)timerFired:(NSTimer *)timer {
    _timer = nil;
    [self send];
}

- (void)report:(ACCRegisterDeviceStatus)status reason:(NSString *)reason times:(NSUInteger)times {
    for (NSUInteger count = 0; count < times; count++) { [_owner registrationEnded:status reason:reason]; }
}

@end
