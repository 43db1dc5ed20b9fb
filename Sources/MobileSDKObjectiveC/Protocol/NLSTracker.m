#import "NLSTracker.h"

#import "../InputOutput/NLSExchange.h"
#import "../InputOutput/NLSFile.h"
#import "NLSBackOff.h"
#import "NLSForm.h"

/// The maximum number of queued hits, more than a user causes offline. Beyond it the oldest is dropped.
static const NSUInteger maxHits = 100;
/// The maximum number of failed answers to a hit, so that it does not block the others forever.
static const NSUInteger maxRefusals = 10;

@interface NLSTracker (Sending)
- (void)removeHit:(NSUInteger)index;
- (void)endPause;
- (void)store;
- (void)send;
- (void)answered:(NLSAnswer *)answer;
@end

@implementation NLSTracker

- (id)initWithFile:(NLSFile *)file {
    self = [super init];
    if (self == nil) { return nil; }
    _file = [file retain];
    _backOff = [[NLSBackOff alloc] init];
    _paths = [[NSMutableArray alloc] init];
    _refusals = [[NSMutableArray alloc] init];
    NSDictionary *record = [file read];
    id opened = [record objectForKey:@"opened"];
    if ([opened isKindOfClass:[NSString class]] && [opened hasPrefix:@"/r/?id=h"]) { _opened = [opened copy]; }
    id paths = [record objectForKey:@"paths"];
    id refusals = [record objectForKey:@"refusals"];
    if (![paths isKindOfClass:[NSArray class]] || ![refusals isKindOfClass:[NSArray class]]
        || [paths count] != [refusals count]) { return self; }
    for (NSUInteger index = 0; index < [paths count] && [_paths count] < maxHits; index++) {
        id path = [paths objectAtIndex:index];
        id count = [refusals objectAtIndex:index];
        if (![path isKindOfClass:[NSString class]] || ![path hasPrefix:@"/r/?id=h"]) { continue; }
        [_paths addObject:path];
        [_refusals addObject:[count isKindOfClass:[NSNumber class]] ? count : [NSNumber numberWithUnsignedInteger:0]];
    }
    return self;
}

- (void)dealloc {
    [_flight cancel];
    [_timer invalidate];
    [_file release];
    [_backOff release];
    [_base release];
    [_paths release];
    [_refusals release];
    [_flight release];
    [_opened release];
    [_asked release];
    [super dealloc];
}

- (void)setHost:(NSString *)host {
    NSString *base = [NLSForm base:host];
    if (base == _base || [base isEqual:_base]) { return; }
    [_base release];
    _base = [base copy];
    // A pause for another server does not apply.
    [self endPause];
    [self send];
}

- (void)convert:(NSString *)end {
    if (_opened == nil) {
        NSLog(@"Neolane_SDK: a conversion is dropped because no notification was opened");
        return;
    }
    [self track:[_opened stringByAppendingString:end]];
}

- (void)track:(NSString *)path {
    NSString *opened = [NLSForm opened:path];
    if (opened != nil) {
        [_opened release];
        _opened = [opened copy];
        [self store];
    }
    if (_base == nil) {
        NSLog(@"Neolane_SDK: a tracking hit is dropped because no valid tracking host is set");
        return;
    }
    // The first hit may be in progress.
    if ([_paths count] >= maxHits) { [self removeHit:_flight == nil ? 0 : 1]; }
    [_paths addObject:path];
    [_refusals addObject:[NSNumber numberWithUnsignedInteger:0]];
    [self store];
    if (_timer == nil) { [self send]; }
}

- (void)retryNow {
    if (_asked != nil && [_asked timeIntervalSinceNow] > 0) { return; }
    [self endPause];
    [self send];
}

@end

@implementation NLSTracker (Sending)

- (void)removeHit:(NSUInteger)index {
    [_paths removeObjectAtIndex:index];
    [_refusals removeObjectAtIndex:index];
}

- (void)endPause {
    [_timer invalidate];
    _timer = nil;
    [_asked release];
    _asked = nil;
}

- (void)store {
    NSMutableDictionary *record = [NSMutableDictionary dictionaryWithObjectsAndKeys:_paths, @"paths", _refusals, @"refusals", nil];
    if (_opened != nil) { [record setObject:_opened forKey:@"opened"]; }
    [_file write:record];
}

- (void)send {
    if (_flight != nil || _base == nil || [_paths count] == 0) { return; }
    NSString *address = [_base stringByAppendingString:[_paths objectAtIndex:0]];
    _flight = [[NLSExchange send:address form:nil target:self action:@selector(answered:)] retain];
}

- (void)answered:(NLSAnswer *)answer {
    [_flight autorelease];
    _flight = nil;
    BOOL retries = [answer isWorthRetrying];
    NSUInteger refusals = [[_refusals objectAtIndex:0] unsignedIntegerValue];
    if (retries && answer->status != 0) {
        refusals++;
        [_refusals replaceObjectAtIndex:0 withObject:[NSNumber numberWithUnsignedInteger:refusals]];
    }
    if (!retries || refusals >= maxRefusals) { [self removeHit:0]; }
    [self store];
    if (!retries) {
        [_backOff reset];
        return [self send];
    }
    [self endPause];
    if (answer->retryAfter > 0) { _asked = [[NSDate dateWithTimeIntervalSinceNow:answer->retryAfter] retain]; }
    _timer = [NSTimer scheduledTimerWithTimeInterval:[_backOff nextAtLeast:answer->retryAfter]
                                              target:self
                                            selector:@selector(pauseEnded:)
                                            userInfo:nil
                                             repeats:NO];
}

- (void)pauseEnded:(NSTimer *)timer {
    _timer = nil;
    [self endPause];
    [self send];
}

@end
