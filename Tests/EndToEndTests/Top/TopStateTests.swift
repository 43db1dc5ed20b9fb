import Store
import Testing

@testable import Administration
@testable import pushmta

/// What the keys of `pushmta top` do, when it reads the database, and how it handles silence.
@Suite struct TopStateTests {
    private let begin = ContinuousClock.now

    private func type(_ keys: String, into state: inout TopState) {
        for key in keys { _ = state.handle(.key(.character(key)), at: begin) }
    }

    private func text(_ state: TopState) -> String {
        TopFrame(state).lines(at: begin).map(\.text).joined(separator: "\n")
    }

    @Test func qAndControlCEndIt() {
        var state = TopSample.state(at: begin)
        #expect(state.handle(.key(.character("q")), at: begin) == [.end])
        #expect(state.handle(.key(.control("c")), at: begin) == [.end])
        type("/", into: &state)
        #expect(state.handle(.key(.character("q")), at: begin) == [.draw] && state.filter == "q")
        #expect(state.handle(.key(.control("c")), at: begin) == [.end])
    }

    @Test func aFilterKeepsRowsWithItsTextOnly() {
        var state = TopSample.state(at: begin)
        #expect(text(state).contains("shop-android") && text(state).contains("beta"))
        type("/DROID", into: &state)
        #expect(state.isTyping && text(state).contains("filter: DROID_"))
        _ = state.handle(.key(.enter), at: begin)
        #expect(!state.isTyping && state.filter == "DROID")
        #expect(text(state).contains("shop-android") && !text(state).contains("shop-ios"))
        type("3", into: &state)
        #expect(text(state).contains("2 filtered out"), "\(text(state))")
        type("/x", into: &state)
        _ = state.handle(.key(.backspace), at: begin)
        #expect(state.filter == "DROID")
        _ = state.handle(.key(.escape), at: begin)
        #expect(state.filter.isEmpty && !state.isTyping && text(state).contains("shop-ios"))
        type("/no such thing", into: &state)
        #expect(text(state).contains("No row contains \"no such thing\""))
    }

    @Test func rowsHaveTheOrderThatWasAskedFor() {
        var state = TopSample.state(columns: 120, at: begin)
        func names() -> [String] {
            let lines = TopFrame(state).lines(at: begin).map(\.text).filter { $0.contains(" shop-") }
            return lines.map { $0.contains("gone") ? "gone" : $0.contains("android") ? "android" : "ios" }
        }
        type("3", into: &state)
        #expect(state.order == .urgent && names() == ["gone", "android", "ios"], "what is gone comes first")
        type("s", into: &state)
        #expect(state.order == .rate && names() == ["android", "ios", "gone"])
        type("r", into: &state)
        #expect(names() == ["gone", "ios", "android"])
        type("rss", into: &state)
        #expect(state.order == .failed && names().first == "gone")
        type("s", into: &state)
        #expect(state.order == .name && names() == ["android", "ios", "gone"])
        type("sS", into: &state)
        #expect(state.order == .name)
    }

    @Test func aPauseHoldsTheFiguresAndLooksNoMore() {
        var state = TopSample.state(at: begin)
        type("p", into: &state)
        #expect(state.isPaused && text(state).contains("PAUSED"))
        #expect(state.handle(.tick, at: begin + .seconds(60)) == [.draw])
        _ = state.handle(.figures([TopSample.reading(.alarms([]))]), at: begin + .seconds(60))
        #expect(state.figures.alarms.count == 1)
        #expect(state.handle(.key(.character(" ")), at: begin + .seconds(60)) == [.read(TopPart.allCases), .draw])
        #expect(!state.isPaused && !text(state).contains("PAUSED"))
    }

    @Test func itLooksEachIntervalAndOneLookAtATime() {
        var state = TopState(size: .usual, interval: .seconds(1))
        #expect(state.handle(.tick, at: begin) == [.read(TopPart.allCases), .draw])
        #expect(state.handle(.tick, at: begin + .seconds(1)) == [.draw])
        _ = state.handle(.figures(TopSample.readings()), at: begin + .milliseconds(1_010))
        #expect(state.handle(.tick, at: begin + .seconds(2)) == [.read(TopPart.allCases), .draw])
    }

    /// All looks together take at most one percent of the time.
    @Test func whatCostsMuchIsReadRarely() {
        var state = TopState(size: .usual, interval: .seconds(1))
        var busy = Duration.zero
        let costs: [TopPart: Duration] = [
            .processes: .milliseconds(2), .queues: .milliseconds(30), .deliveries: .milliseconds(400),
            .alarms: .milliseconds(100),
        ]
        var looks: [TopPart: Int] = [:]
        for second in 0..<3_600 {
            let now = begin + .seconds(second)
            for case .read(let parts) in state.handle(.tick, at: now) {
                for part in parts {
                    looks[part, default: 0] += 1
                    busy += costs[part] ?? .zero
                }
                let readings = TopSample.readings().filter { parts.contains($0.part) }
                _ = state.handle(
                    .figures(readings.map { TopSample.reading($0.content, cost: costs[$0.part] ?? .zero) }),
                    at: now
                )
            }
        }
        #expect(busy < .seconds(37), "\(busy)")
        #expect(looks[.processes] == 3_600 && looks[.deliveries].map { (20...24).contains($0) } == true, "\(looks)")
        // An outdated table is marked.
        let now = begin + .seconds(3_640)
        #expect(TopFrame(state).lines(at: now).contains { $0.text.contains("old)") && $0.style == .head })
    }

    @Test func aDatabaseThatIsAwayIsToldOfAndTheRestGoesOn() {
        var state = TopSample.state(at: begin)
        #expect(state.handle(.tick, at: begin + .seconds(1)).contains(.read(TopPart.allCases)))
        #expect(state.handle(.failed("the connection was\nlost"), at: begin + .seconds(2)) == [.draw])
        #expect(state.handle(.tick, at: begin + .seconds(3)).contains(.read(TopPart.allCases)))
        #expect(state.handle(.away("connection refused"), at: begin + .seconds(4)) == [.draw])
        let lines = TopFrame(state).lines(at: begin + .seconds(14))
        let told = lines.filter { $0.style == .critical }.map(\.text).joined(separator: " ")
        #expect(told.contains("12 s") && told.contains("connection refused"), "\(told)")
        #expect(lines.contains { $0.text.contains("shop-android") } && lines.count == 24)
        _ = state.handle(.figures(TopSample.readings()), at: begin + .seconds(20))
        #expect(state.trouble == nil)
    }

    @Test func aDatabaseThatSaysNothingIsToldOf() {
        var state = TopSample.state(at: begin)
        #expect(state.handle(.tick, at: begin + .seconds(1)).contains(.read(TopPart.allCases)))
        _ = state.handle(.tick, at: begin + .seconds(5))
        #expect(state.trouble == nil)
        _ = state.handle(.tick, at: begin + .seconds(7))
        #expect(state.trouble?.words == "it does not respond" && state.trouble?.since == begin + .seconds(1))
    }

    @Test func onePaneShowsNotesAndMovesThroughItsRows() {
        var state = TopSample.state(at: begin)
        type("1", into: &state)
        #expect(text(state).contains("To do: set another key") && !text(state).contains("alpha"))
        _ = state.handle(.key(.tab), at: begin)
        #expect(state.pane == .hosts && text(state).contains("alpha"))
        _ = state.handle(.key(.down), at: begin)
        #expect(
            state.scroll == 1 && !text(state).contains("beta") && text(state).contains("alpha"),
            "what is gone comes first"
        )
        _ = state.handle(.key(.end), at: begin)
        _ = state.handle(.key(.pageDown), at: begin)
        #expect(state.scroll == 1)
        _ = state.handle(.key(.up), at: begin)
        _ = state.handle(.key(.pageUp), at: begin)
        #expect(state.scroll == 0)
        _ = state.handle(.key(.backTab), at: begin)
        _ = state.handle(.key(.left), at: begin)
        #expect(state.pane == .overview)
        type("jkgG59", into: &state)
        #expect(state.pane == .deliveries && state.scroll == 0)
        type("?", into: &state)
        #expect(text(state).contains("reverse the order"))
        _ = state.handle(.key(.escape), at: begin)
        #expect(!state.showsHelp)
    }

    @Test func ratesOfDeliveriesComeFromTwoLooks() {
        var state = TopSample.state(looks: 1, at: begin)
        // The children's rates, while there has been only one look.
        #expect(state.history.deliveries.last(7) == nil && text(state).contains("550"))
        _ = state.handle(.figures(TopSample.readings(second: 5)), at: begin)
        #expect(state.history.deliveries.last(7) == 100)
        // The last report of an exited child is not a current rate.
        #expect(state.history.all.last(true) == 500 && state.history.hosts.last("id-of-beta") == 0)
    }

    @Test func sparklinesShowTheLastValuesAgainstTheGreatest() {
        #expect(Sparkline.text([0, 1, 4, 8], width: 8) == "▁▂▅█" && Sparkline.text([9, 1, 2], width: 2) == "▅█")
        #expect(Sparkline.text([0, 0], width: 4).isEmpty && Sparkline.text([5], width: 4).isEmpty)
        #expect(Sparkline.text([0.001, 1_000_000], width: 4) == "▂█" && Sparkline.text([1, 2], width: 0).isEmpty)
        var series = TopSeries<String>()
        for value in 0..<200 { series.add(["a": Double(value)]) }
        #expect(series.sparkline("a", width: 1_000).count == 60 && series.last("a") == 199)
        series.add(["b": 1])
        #expect(series.last("a") == nil)
    }
}
