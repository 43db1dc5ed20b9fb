import ProcessEvents
import Testing

@Suite("Whether the database accepts writes")
struct DatabasePulseTests {
    @Test("A committed write counts for ten seconds; a refused write ends this")
    func pulse() {
        let begin = ContinuousClock.now
        let pulse = DatabasePulse()
        #expect(!pulse.isUp(at: begin))
        pulse.note(true, at: begin)
        #expect(pulse.isUp(at: begin + .seconds(10)) && !pulse.isUp(at: begin + .milliseconds(10_001)))
        pulse.note(false, at: begin + .seconds(1))
        #expect(!pulse.isUp(at: begin + .seconds(1)))
        #expect(DatabasePulse(startsUp: true).isUp())
    }
}
