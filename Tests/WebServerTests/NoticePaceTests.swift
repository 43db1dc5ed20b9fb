import Testing

@testable import WebServer

@Suite struct NoticePaceTests {
    @Test func theFirstIsToldAtOnceAndTheRestOnceAMinute() {
        var pace = NoticePace()
        let start = ContinuousClock.now
        #expect(pace.add(3, at: start) == 3)
        #expect(pace.add(4, at: start + .seconds(1)) == nil)
        #expect(pace.add(5, at: start + .seconds(59)) == nil)
        #expect(pace.add(6, at: start + .seconds(60)) == 15)
        #expect(pace.add(1, at: start + .seconds(61)) == nil)
        #expect(pace.add(1, at: start + .seconds(400)) == 2)
    }
}
