#import "NLSExchange.h"

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif

/// The timeout of Adobe's SDK in seconds, for connecting and for reading.
static const NSTimeInterval timeout = 30;
/// The maximum length of a reported reason in characters. Four times as many bytes are read, the maximum in UTF-8.
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
    // Start only after the caller has the exchange: a connection may fail while it starts.
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
    // The connection and the timer may hold the only references to this object.
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
    [self end:[NLSAnswer status:0 reason:[reason length] > 0 ? reason : @"No answer" retryAfter:0]];
}

/// Treats a redirect as the final answer. Following it would turn a registration into a GET of some page, whose status
/// 200 would look like success.
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
        // It has already failed.
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

/// Starts the timeout for the next data from the server. The system's own timeout differs between platforms.
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
        // A date is ignored.
        double seconds = [[headers objectForKey:name] doubleValue];
        _retryAfter = seconds > 0 ? MIN(seconds, 86400) : 0;
    }
}

/// The reason that the server gave. The first line of a proxy's error page is HTML and tells nothing.
- (NSString *)firstLine {
    NSString *text = nil;
    // The data may end within a character of up to four bytes.
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
