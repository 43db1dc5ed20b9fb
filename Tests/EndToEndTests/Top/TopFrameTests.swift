import Store
import Testing

@testable import Administration
@testable import pushmta

/// The screen of `pushmta top` as a function of its state.
@Suite struct TopFrameTests {
    private let now = ContinuousClock.now

    @Test func everythingFitsInto80ColumnsAnd24Lines() {
        let lines = TopFrame(TopSample.state(at: now)).lines(at: now)
        #expect(lines.count == 24)
        let wide = lines.filter { DisplayWidth.of($0.text) > 79 }
        #expect(wide.isEmpty, "\(wide)")
        let text = lines.map(\.text).joined(separator: "\n")
        #expect(
            lines.first?.text.hasPrefix("pushmta top  01:01:01 UTC  every 1 s  alarms 1 critical") == true,
            "\(text)"
        )
        #expect(lines[1].text.hasPrefix("500/s  ██  hosts 1/2  children 3  deliveries 1  waiting 77"), "\(text)")
        for words in ["alpha", "beta", "shop-android", "shop-ios", "Sale", "circuit_open", "open", "gone"] {
            #expect(text.contains(words), "\(words): \(text)")
        }
        #expect(lines.contains { $0.style == .critical && $0.text.contains("circuit_open") })
        #expect(lines.contains { $0.style == .critical && $0.text.hasPrefix("beta") })
        #expect(lines.last?.text.contains("q quit") == true)
    }

    @Test(arguments: [(1, 1), (2, 3), (20, 5), (79, 12), (200, 60), (400, 200)])
    func anySizeHasItsLines(columns: Int, lines: Int) {
        var state = TopSample.state(columns: columns, lines: lines, at: now)
        for key in "012345?" {
            _ = state.handle(.key(.character(key)), at: now)
            let shown = TopFrame(state).lines(at: now)
            #expect(shown.count == lines, "\(key): \(shown)")
            #expect(shown.allSatisfy { DisplayWidth.of($0.text) <= max(1, columns - 1) }, "\(key): \(shown)")
        }
    }

    @Test func manyRowsShareTheRoomAndSayHowManyThereAre() {
        var state = TopSample.state(at: now)
        let children = (1...50).map { TopSample.child($0, on: "alpha", "app-\($0)", rate: Double($0)) }
        _ = state.handle(.figures([TopSample.reading(.processes([TopSample.host("alpha")], children))]), at: now)
        let deliveries = (1...40).map { TopSample.delivery($0, sent: 0, label: "d-\($0)") }
        _ = state.handle(.figures([TopSample.reading(.deliveries(deliveries, isCut: true))]), at: now)
        let lines = TopFrame(state).lines(at: now).map(\.text)
        #expect(lines.count == 24)
        #expect(lines.contains { $0.contains("of 50)") } && lines.contains { $0.contains("of 40+)") }, "\(lines)")
        // The fastest rows come first.
        #expect(lines.contains { $0.contains("app-50") } && !lines.contains { $0.contains("app-1 ") })
        #expect(lines[1].contains("deliveries 40+"))
        #expect(TopFrame.shares([1, 50, 2, 40], of: 16) == [1, 7, 2, 6])
        #expect(TopFrame.shares([1, 1], of: 16) == [1, 1] && TopFrame.shares([5, 5], of: -3) == [0, 0])
    }

    @Test func namesCannotMoveTheCursorNorTearTheLines() {
        var state = TopSample.state(columns: 120, at: now)
        let name = "a\u{1B}[2Jb\nc\u{9B}夏の特売" + String(repeating: "x", count: 500)
        _ = state.handle(
            .figures([
                TopSample.reading(
                    .processes([TopSample.host(name, alarm: name)], [TopSample.child(1, on: name, name)])
                ),
                TopSample.reading(.queues([TopSample.application(name, .open, reason: name)], [])),
                TopSample.reading(.deliveries([TopSample.delivery(1, sent: 1, label: name)], isCut: false)),
            ]),
            at: now
        )
        _ = state.handle(.failed(name), at: now)
        for key in "012345" {
            _ = state.handle(.key(.character(key)), at: now)
            let lines = TopFrame(state).lines(at: now)
            #expect(lines.count == 24)
            for line in lines {
                #expect(!line.text.unicodeScalars.contains { $0.properties.generalCategory == .control }, "\(line)")
                #expect(DisplayWidth.of(line.text) <= 119)
            }
        }
        for character in "/\u{9B}x" { _ = state.handle(.key(.character(character)), at: now) }
        #expect(TopFrame(state).lines(at: now).last?.text.hasPrefix(#"filter: \u009bx_"#) == true)
    }

    @Test func aDeliveryThatASlowGatewayBindsSaysSo() {
        var state = TopState(size: TerminalSize(columns: 121, lines: 40), interval: .seconds(1))
        let children = [TopSample.child(1, on: "alpha", "shop-ios", rate: 5, waitsForGateway: true)]
        _ = state.handle(.figures([TopSample.reading(.processes([TopSample.host("alpha")], children))]), at: now)
        let deliveries = [
            TopSample.delivery(7, sent: 1, label: "Sale"), TopSample.delivery(8, sent: 1, label: "Other"),
        ]
        _ = state.handle(.figures([TopSample.reading(.deliveries(deliveries, isCut: false))]), at: now)
        let text = TopFrame(state).text(at: now)
        let slow = text.filter { $0.contains("slow gateway") }
        #expect(slow.count == 1 && slow.first?.contains("Sale") == true, "\(text)")
        _ = state.handle(.key(.character("5")), at: now)
        let alone = TopFrame(state).lines(at: now).map(\.text).joined(separator: "\n")
        #expect(alone.contains("The gateway of shop-ios responds slowly"), "\(alone)")
    }

    @Test func whatIsToBeExplainedMayBeSaidBeforeItsName() {
        typealias Subject = ExplainCommand.Subject
        #expect(Subject(words: ["100"], isHost: false) == Subject(kind: nil, name: "100"))
        #expect(Subject(words: ["delivery", "100"], isHost: false) == Subject(kind: .delivery, name: "100"))
        #expect(Subject(words: ["app", "shop-ios"], isHost: false) == Subject(kind: .app, name: "shop-ios"))
        // An object may have such a word as its name.
        #expect(Subject(words: ["host", "app"], isHost: false) == Subject(kind: .host, name: "app"))
        #expect(Subject(words: ["app"], isHost: false) == Subject(kind: nil, name: "app"))
        #expect(Subject(words: ["push-1"], isHost: true) == Subject(kind: .host, name: "push-1"))
        for words in [["parts", "100"], ["delivery", "1", "2"], []] as [[String]] {
            #expect(Subject(words: words, isHost: false) == nil, "\(words)")
        }
        #expect(Subject(words: ["app", "a"], isHost: true) == nil)
    }

    @Test func whatIsBrokenComesFirstAndTheIdleAreCounted() throws {
        var state = TopState(size: TerminalSize(columns: 121, lines: 40), interval: .seconds(1))
        let idle = (10...60).map { TopSample.application("app-\($0)") }
        let broken = TopSample.application("zebra", .open, reason: "the key was revoked")
        _ = state.handle(.figures([TopSample.reading(.queues(idle + [broken], []))]), at: now)
        let lines = TopFrame(state).lines(at: now).map(\.text)
        #expect(lines.contains { $0.hasPrefix("zebra") } && !lines.contains { $0.contains("app-") }, "\(lines)")
        #expect(lines.contains { $0.contains("(51 idle)") }, "\(lines)")
        // On its own, the table has all rows, with broken ones first.
        _ = state.handle(.key(.character("4")), at: now)
        let rows = TopFrame(state).lines(at: now).map(\.text).filter { $0.contains("app-") || $0.contains("zebra") }
        #expect(rows.first?.hasPrefix("zebra") == true && rows.count > 20, "\(rows)")
    }

    /// The header counts the messages that children have claimed, as the column does.
    @Test func theHeadHasWhatChildrenHold() {
        var state = TopState(size: TerminalSize(columns: 121, lines: 24), interval: .seconds(1))
        let queue = TopSample.queue("shop-ios", ready: 2_624, claimed: 341)
        _ = state.handle(.figures([TopSample.reading(.queues([], [queue]))]), at: now)
        let head = TopFrame(state).lines(at: now)[1].text
        #expect(head.hasSuffix("waiting 2624  claimed 341"), "\(head)")
    }

    @Test func asTextItHasAllRows() {
        var state = TopState(size: TerminalSize(columns: 121, lines: .max), interval: .seconds(1))
        let children = (1...50).map { TopSample.child($0, on: "alpha", "app-\($0)", rate: 5) }
        _ = state.handle(.figures([TopSample.reading(.processes([TopSample.host("alpha")], children))]), at: now)
        let text = TopFrame(state).text(at: now)
        #expect(text.filter { $0.contains(" app-") }.count == 50 && text.allSatisfy { DisplayWidth.of($0) <= 120 })
        let empty = TopState(size: TerminalSize(columns: 121, lines: .max), interval: .milliseconds(500))
        #expect(
            TopFrame(empty).text(at: now).first?.contains("nothing has been read yet  every 0.5 s  no alarms") == true
        )
    }
}
