#import "NLSExchange.h"

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif

/// As long as Adobe's SDK waits, for connecting and for reading.
static const NSTimeInterval timeout = 30;
/// The most that is shown of an answer, in characters; of its bytes four times as many are read, as UTF-8 may have them.
static const NSUInteger longestReason = 200;

@implementation NLSAnswer

+ (NLSAnswer *)status:(NSInteger)status reason:(NSString *)reason retryAfter:(NSTimeInterval)retryAfter {
    NLSAnswer *answer = [[[NLSAnswer alloc] init] autorelease];
    answer->status = status;
    answer->reason = [reason copy];
    answer->retryAfter = retryAfter;
    return answer;
}

- (void)dealloc {
    [reason release];
    [super dealloc];
}

- (BOOL)isWorthRetrying {
    return status == 0 || (status >= 300 && status < 400) || status == 408 || status == 425 || status == 429
        || (status >= 500 && status < 600);
}

@end

@interface NLSExchange (Ending)
- (void)begin;
- (void)end:(NLSAnswer *)answer;
- (void)await;
- (void)late:(NSTimer *)timer;
- (void)takeHead:(NSURLResponse *)response;
- (NSString *)firstLine;
@end

@implementation NLSExchange

+ (NLSExchange *)send:(NSString *)address form:(NSString *)form target:(id)target action:(SEL)action {
    NLSExchange *exchange = [[[NLSExchange alloc] init] autorelease];
    exchange->_target = target;
    exchange->_action = action;
    exchange->_body = [[NSMutableData alloc] init];
    NSMutableURLRequest *request = [NSMutableURLRequest requestWithURL:[NSURL URLWithString:address]
                                                           cachePolicy:NSURLRequestReloadIgnoringLocalCacheData
                                                       timeoutInterval:timeout];
    [request setHTTPShouldHandleCookies:NO];
    if (form != nil) {
        [request setHTTPMethod:@"POST"];
        [request setValue:@"application/x-www-form-urlencoded;charset=UTF-8" forHTTPHeaderField:@"Content-Type"];
        [request setHTTPBody:[form dataUsingEncoding:NSUTF8StringEncoding]];
    }
    exchange->_request = [request retain];
    // Not before the caller has it: a connection may fail while it starts.
    [exchange performSelector:@selector(begin) withObject:nil afterDelay:0];
    return exchange;
}

- (void)dealloc {
    [_body release];
    [_request release];
    [_connection release];
    [super dealloc];
}

- (void)cancel {
    // The connection and the timer may be what keeps this alive.
    [[self retain] autorelease];
    _target = nil;
    [NSObject cancelPreviousPerformRequestsWithTarget:self];
    [_deadline invalidate];
    _deadline = nil;
    [_connection cancel];
    [_connection autorelease];
    _connection = nil;
}

- (void)connection:(NSURLConnection *)connection didReceiveResponse:(NSURLResponse *)response {
    [self takeHead:response];
    [_body setLength:0];
    [self await];
}

- (void)connection:(NSURLConnection *)connection didReceiveData:(NSData *)data {
    NSUInteger room = 4 * longestReason > [_body length] ? 4 * longestReason - [_body length] : 0;
    [_body appendData:[data subdataWithRange:NSMakeRange(0, MIN(room, [data length]))]];
    [self await];
}

- (void)connectionDidFinishLoading:(NSURLConnection *)connection {
    [self end:[NLSAnswer status:_status reason:[self firstLine] retryAfter:_retryAfter]];
}

- (void)connection:(NSURLConnection *)connection didFailWithError:(NSError *)error {
    NSString *reason = [error localizedDescription];
    [self end:[NLSAnswer status:0 reason:[reason length] > 0 ? reason : @"No answer came" retryAfter:0]];
}

/// A redirect is the answer that it is: a registration would become a GET of some page, whose 200 would say that the server has it.
- (NSURLRequest *)connection:(NSURLConnection *)connection
             willSendRequest:(NSURLRequest *)request
            redirectResponse:(NSURLResponse *)redirect {
    if (redirect == nil) { return request; }
    [self takeHead:redirect];
    [_body setLength:0];
    [self end:[NLSAnswer status:_status reason:[self firstLine] retryAfter:_retryAfter]];
    return nil;
}

- (NSCachedURLResponse *)connection:(NSURLConnection *)connection willCacheResponse:(NSCachedURLResponse *)response {
    return nil;
}

@end

@implementation NLSExchange (Ending)

- (void)begin {
    [self await];
    NSURLConnection *connection = [[NSURLConnection alloc] initWithRequest:_request delegate:self];
    if (_target == nil) {
        // It has failed already.
        [connection cancel];
        [connection autorelease];
    } else {
        _connection = connection;
    }
}

- (void)end:(NLSAnswer *)answer {
    id target = _target;
    SEL action = _action;
    [self cancel];
    [target performSelector:action withObject:answer];
}

/// Starts the wait for the next sign of the server. The system's own timeout is not the same everywhere.
- (void)await {
    [_deadline invalidate];
    _deadline = [NSTimer scheduledTimerWithTimeInterval:timeout target:self selector:@selector(late:) userInfo:nil repeats:NO];
}

- (void)late:(NSTimer *)timer {
    _deadline = nil;
    [self end:[NLSAnswer status:0 reason:@"The server did not answer in time" retryAfter:0]];
}

- (void)takeHead:(NSURLResponse *)response {
    if (![response isKindOfClass:[NSHTTPURLResponse class]]) { return; }
    _status = [(NSHTTPURLResponse *)response statusCode];
    _retryAfter = 0;
    NSDictionary *headers = [(NSHTTPURLResponse *)response allHeaderFields];
    NSEnumerator *names = [headers keyEnumerator];
    NSString *name;
    while ((name = [names nextObject]) != nil) {
        if ([name caseInsensitiveCompare:@"Retry-After"] != NSOrderedSame) { continue; }
        // A date counts as nothing.
        double seconds = [[headers objectForKey:name] doubleValue];
        _retryAfter = seconds > 0 ? MIN(seconds, 86400) : 0;
    }
}

/// What the server said. A proxy's error page says nothing in its first line.
- (NSString *)firstLine {
    NSString *text = nil;
    // What was read may end amid a character of up to four bytes.
    for (NSUInteger cut = 0; cut < 4 && text == nil && cut <= [_body length]; cut++) {
        NSData *data = [_body subdataWithRange:NSMakeRange(0, [_body length] - cut)];
        text = [[[NSString alloc] initWithData:data encoding:NSUTF8StringEncoding] autorelease];
    }
    NSCharacterSet *ends = [NSCharacterSet characterSetWithCharactersInString:@"\r\n"];
    text = [text stringByTrimmingCharactersInSet:[NSCharacterSet whitespaceAndNewlineCharacterSet]];
    NSString *line = [[[text componentsSeparatedByCharactersInSet:ends] objectAtIndex:0]
        stringByTrimmingCharactersInSet:[NSCharacterSet whitespaceCharacterSet]];
    if ([line length] == 0 || [line hasPrefix:@"<"]) { return [NSString stringWithFormat:@"HTTP status %ld", (long)_status]; }
    return [line length] > longestReason ? [line substringToIndex:longestReason] : line;
}

@end
