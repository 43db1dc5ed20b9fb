import HTTP2
import Testing

@Suite struct HTTP2ValuesTests {
    @Test func errorCodesHaveTheirNames() {
        #expect(HTTP2ErrorCode.noError.description == "NO_ERROR")
        #expect(HTTP2ErrorCode.refusedStream.description == "REFUSED_STREAM")
        #expect(HTTP2ErrorCode.http11Required.description == "HTTP_1_1_REQUIRED")
        #expect(HTTP2ErrorCode(rawValue: 0xff).description == "0xff")
    }

    @Test func failuresSayWhatHappened() {
        #expect("\(HTTP2Failure(.reset(.internalError)))".contains("INTERNAL_ERROR"))
        #expect("\(HTTP2Failure(.timeout))".contains("deadline"))
        #expect("\(HTTP2Failure(.goAway))".contains("before it processed"))
    }
}
