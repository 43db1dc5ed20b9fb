import Gateways
import Testing

@testable import MTAChild

@Suite("Log entries about an unreachable gateway")
struct GatewayOutageTests {
    @Test("An outage logs its begin, each new kind of failure and its end with the length, but not each attempt")
    func lines() throws {
        let begin = ContinuousClock.now
        var outage = GatewayOutage()
        #expect(outage.reached(at: begin) == nil)
        var told = 0
        // 25 minutes with one attempt every 5 s.
        for attempt in 0..<300 where outage.failed(.unreachable, at: begin + .seconds(5 * attempt)) { told += 1 }
        #expect(told == 1)
        let isOtherTold = outage.failed(.untrusted, at: begin + .seconds(1_498))
        #expect(isOtherTold)
        let reached = outage.reached(at: begin + .seconds(1_500))
        let end = try #require(reached)
        #expect(end.time == .seconds(1_500) && end.attempts == 301)
        #expect(outage.reached(at: begin + .seconds(1_501)) == nil)
        let isNextTold = outage.failed(.unreachable, at: begin + .seconds(1_502))
        #expect(isNextTold, "another outage")
    }
}
