import PushCore
import TestSupport
import Testing

/// What a process has of a rate: nothing leaves early, nothing in bursts, and the whole rate is used.
@Suite struct RateShareTests {
    private func ms(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

    /// The line of time that all processes share, as the database keeps it.
    private struct Line {
        var rate: Double
        var next = Duration.zero

        mutating func take(_ messages: Int, at moment: Duration) -> (delay: Duration, count: Int) {
            next = max(next, moment)
            let count = min(messages, Int((rate / 20).rounded(.up)))
            defer { next += .seconds(Double(count) / rate) }
            return (next - moment, count)
        }
    }

    /// Runs some processes that always have messages; answers take a few milliseconds.
    /// - Returns: for each process, the milliseconds at which messages left.
    private func run(_ rate: Double, processes: Int, seconds: Int, random: inout TestRandom) -> [[Int]] {
        var line = Line(rate: rate)
        var shares = Array(repeating: RateShare(rate: rate), count: processes)
        var answers: [(at: Int, process: Int, delay: Duration, count: Int)] = []
        var left = Array(repeating: [Int](), count: processes)
        for now in 0..<seconds * 1_000 {
            for answer in answers where answer.at == now {
                shares[answer.process].granted(answer.count, rate: rate, startsIn: answer.delay, at: ms(now))
            }
            answers.removeAll { $0.at <= now }
            for process in 0..<processes {
                let room = shares[process].room(for: 10_000, at: ms(now))
                if room > 0 {
                    shares[process].use(room, at: ms(now))
                    left[process] += Array(repeating: now, count: room)
                }
                let wanted = shares[process].wanted(for: 10_000, at: ms(now))
                guard wanted > 0 else { continue }
                shares[process].ask()
                let (delay, count) = line.take(wanted, at: ms(now))
                answers.append((now + Int.random(in: 1...8, using: &random), process, delay, count))
            }
        }
        return left
    }

    @Test(arguments: [3.0, 25, 500, 10_000], [1, 2, 7])
    func wholeRateIsUsedAndNoMore(_ rate: Double, _ processes: Int) {
        let seed = UInt64.random(in: .min ... .max)
        var random = TestRandom(seed: seed)
        let seconds = 40
        let left = run(rate, processes: processes, seconds: seconds, random: &random)
        let all = left.flatMap { $0 }
        let words = "seed \(seed), rate \(rate), \(processes) processes"
        // From the third second on: the first slices are there by then.
        for second in 2..<seconds - 10 {
            let count = all.count { (second * 1_000..<(second + 10) * 1_000).contains($0) }
            let margin = max(rate * 10 * 0.02, Double(processes) + 1)
            #expect(abs(Double(count) - rate * 10) <= margin, "\(words): \(count) in 10 s")
        }
        for second in 2..<seconds {
            let count = all.count { (second * 1_000..<(second + 1) * 1_000).contains($0) }
            let margin = max(rate * 0.1, Double(processes) + 1)
            #expect(abs(Double(count) - rate) <= margin, "\(words): \(count) in second \(second)")
        }
        // Each has its share.
        let fair = Double(all.count) / Double(processes)
        for (process, messages) in left.enumerated() {
            let margin = max(fair * 0.15, 3)
            #expect(abs(Double(messages.count) - fair) <= margin, "\(words): process \(process) had \(messages.count)")
        }
    }

    @Test func nothingLeavesBeforeASliceIsThere() {
        var share = RateShare(rate: 100)
        #expect(share.room(for: 5, at: ms(0)) == 0)
        #expect(share.nextLook(at: ms(0)) == nil)
        #expect(share.wanted(for: 5, at: ms(0)) == 5)
        #expect(share.wanted(for: 500, at: ms(0)) == 5, "a twentieth of a second")
        share.ask()
        #expect(share.wanted(for: 500, at: ms(1)) == 0, "one question at a time")
        share.granted(10, rate: 100, startsIn: ms(40), at: ms(2))
        #expect(share.room(for: 500, at: ms(41)) == 0)
        #expect(share.nextLook(at: ms(2)) == ms(42))
        #expect(share.room(for: 500, at: ms(42)) == 1)
        #expect(share.room(for: 500, at: ms(63)) == 3)
    }

    @Test func messagesLeaveInSteps() {
        var share = RateShare(rate: 1_000)
        share.granted(100, rate: 1_000, startsIn: .zero, at: ms(0))
        share.use(share.room(for: 500, at: ms(10)), at: ms(10))
        #expect(share.room(for: 500, at: ms(30)) == 0, "a message at a time costs a mark each")
        #expect(share.nextLook(at: ms(30)) == ms(60))
        #expect(share.room(for: 500, at: ms(60)) == 50)
        #expect(share.room(for: 3, at: ms(30)) == 20, "what waits is all that there is")
    }

    @Test func whatIsNotUsedInItsTimeLapses() {
        var share = RateShare(rate: 1_000)
        share.granted(100, rate: 1_000, startsIn: .zero, at: ms(0))
        share.use(1, at: ms(0))
        share.granted(100, rate: 1_000, startsIn: ms(0), at: ms(1_000))
        #expect(share.room(for: 500, at: ms(1_000)) == 1, "a pause is not made up for")
        // One that is rare waits for its turn.
        var rare = RateShare(rate: 0.5)
        rare.granted(1, rate: 0.5, startsIn: .zero, at: ms(0))
        #expect(rare.room(for: 1, at: ms(1_500)) == 1)
    }

    @Test func anotherLimitIsFeltAtOnce() {
        var share = RateShare(rate: 10_000)
        share.granted(100, rate: 10_000, startsIn: .zero, at: ms(0))
        share.limit(0.001)
        #expect(share.room(for: 100, at: ms(10)) == 0, "what was given at the old rate is given up")
        #expect(share.wanted(for: 1_000, at: ms(10)) == 1)
        share.granted(1, rate: 0.001, startsIn: .seconds(900), at: ms(10))
        #expect(share.wanted(for: 1_000, at: ms(20)) == 0, "a message in a thousand seconds")
        share.limit(200)
        #expect(share.wanted(for: 1_000, at: ms(20)) == 10, "nobody waits for the thousand seconds")
        share.granted(10, rate: 100, startsIn: .zero, at: ms(20))
        share.limit(200)
        #expect(share.room(for: 1_000, at: ms(30)) == 2, "the same limit changes nothing")
        share.ask()
        share.askFailed()
        #expect(share.wanted(for: 1_000, at: ms(30)) > 0, "what could not be had is asked for again")
    }

    @Test func noLimitIsNone() {
        var share = RateShare(rate: .infinity)
        #expect(share.wanted(for: 1_000, at: ms(0)) == 1_000)
        share.granted(1_000, rate: .infinity, startsIn: .zero, at: ms(1))
        #expect(share.room(for: 5_000, at: ms(1)) == 1_000)
    }
}
