import Content
import HTTPTypes
import PushCore
import Store

/// Two deliveries side by side.
struct ComparePage: Sendable {
    let responder: ConsoleResponder

    /// The names of the query parameters.
    private enum Name {
        static let (first, second) = ("a", "b")
    }
    private static let path = "/deliveries/compare"
    /// The deliveries that are offered as the second one.
    private static let maxOffered = 10

    static func path(_ first: Int64, _ second: Int64) -> String {
        "\(path)?\(Name.first)=\(first)&\(Name.second)=\(second)"
    }

    /// The page that asks for the second delivery.
    static func path(_ first: Int64) -> String { "\(path)?\(Name.first)=\(first)" }

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.read)) { call in
                guard let first = Self.id(call, Name.first) else { throw ConsoleProblem.notFound }
                guard let second = Self.id(call, Name.second) else {
                    return try await ask(first, typed: call.query[Name.second]?.trimmed ?? "")
                }
                return try await compare(first, second)
            }
        ]
    }

    private static func id(_ call: ConsoleCall, _ name: String) -> Int64? {
        (call.query[name]?.trimmed).flatMap { Int64($0) }
    }

    /// - Parameter typed: what was given as the second one and is no number; "" if nothing was.
    private func ask(_ first: Int64, typed: String) async throws -> ConsoleReply {
        let (progress, page) = try await responder.database.run { store in
            let names = try await store.applicationNames(ofDeliveries: [first])[first] ?? []
            return (
                try await store.deliveryProgress(first),
                try await store.deliveryPage(
                    DeliveryFilter(application: names.first ?? ""),
                    maxRows: Self.maxOffered + 1
                )
            )
        }
        let rows = page.rows.filter { $0.progress.id != first && $0.progress.target > 0 }.prefix(Self.maxOffered)
        let ask: PageValues = [
            "first": .text("\(first)"), "label": .text(DeliveryWords(row: progress, catalogue: catalogue).name),
            "offers": .list(rows.map { offer($0, beside: first) }), "typed": .text(typed),
            "isWrong": .flag(!typed.isEmpty),
        ]
        return .page(
            ConsolePage(
                "compare",
                title: catalogue[.compareTitle],
                ["ask": .group(ask)],
                status: typed.isEmpty ? .ok : .unprocessableContent
            )
        )
    }

    private func offer(_ row: ListedDelivery, beside first: Int64) -> PageValues {
        [
            "path": .text(Self.path(first, row.progress.id)),
            "label": .text(DeliveryWords(row: row.progress, catalogue: catalogue).name),
            "date": .text("\(Figures.day(row.localTime)) \(row.localTime.dropFirst(11)) \(row.zone)"),
        ]
    }

    private func compare(_ first: Int64, _ second: Int64) async throws -> ConsoleReply {
        let (sides, shares) = try await responder.database.run { store in
            var sides: [Side] = []
            for id in [first, second] {
                let progress = try await store.deliveryProgress(id)
                sides.append(
                    Side(
                        progress: progress,
                        lastCount: try await store.lastCounts(of: [progress])[id],
                        clock: try await store.clock(ofDelivery: id),
                        applications: try await store.applicationNames(ofDeliveries: [id])[id] ?? [],
                        content: ContentForm.values(json: try await store.content(ofDelivery: id))
                    )
                )
            }
            return (sides, try await store.compareDeliveries(first, second))
        }
        let heads = sides.map { side -> PageValues in
            [
                "id": .text("\(side.progress.id)"),
                "label": .text(DeliveryWords(row: side.progress, catalogue: catalogue).name),
            ]
        }
        let running = sides.filter { !$0.progress.state.isFinal }.map { side -> PageValues in
            let name = DeliveryWords(row: side.progress, catalogue: catalogue).name
            return ["words": .text(catalogue.text(.compareRunning, "\(side.progress.id)", name))]
        }
        let result: PageValues = [
            "running": .list(running),
            "sides": .list(heads), "shares": .list(shares.map(share)), "facts": .list(facts(sides)),
            "texts": .list(texts(sides)), "hasTexts": .flag(sides.contains { !$0.content.isEmpty }),
        ]
        return .page(ConsolePage("compare", title: catalogue[.compareTitle], ["result": .group(result)]))
    }
}

extension ComparePage {
    /// A delivery of the comparison.
    private struct Side: Sendable {
        let progress: DeliveryProgress
        /// What its last analysis counted, if its messages are made again.
        let lastCount: Int64?
        /// That of its services, as on its page; nil for UTC.
        let clock: ZoneClock?
        let applications: [String]
        /// The texts of its content, by their places.
        let content: [String: String]
    }

    private func share(_ row: DeliveryComparison) -> PageValues {
        let name: Phrase =
            switch row.measure {
            case .sent: .funnelSent
            case .failed: .columnFailed
            case .received: .funnelReceived
            case .clicked: .funnelClicked
            }
        return [
            "name": .text(catalogue[name]), "firstCount": .text(Figures.count(row.first.count)),
            "firstRate": .text(Figures.percent(row.first.count, of: row.first.whole)),
            "secondCount": .text(Figures.count(row.second.count)),
            "secondRate": .text(Figures.percent(row.second.count, of: row.second.whole)),
            "words": .text(words(row)), "isClear": .flag(row.isClear),
        ]
    }

    /// The difference in words, with its interval.
    private func words(_ row: DeliveryComparison) -> String {
        guard let difference = row.difference, let low = row.low, let high = row.high else {
            return catalogue[.compareNothing]
        }
        let phrase: Phrase = !row.isClear ? .compareUnclear : difference > 0 ? .compareMore : .compareLess
        let ends = difference < 0 && row.isClear ? (-high, -low) : (low, high)
        // "Higher" and "lower" say the sign already.
        let shown = row.isClear ? abs(difference) : difference
        return catalogue.text(phrase, points(shown), points(ends.0), points(ends.1))
    }

    /// Percentage points: two digits if they are few.
    private func points(_ share: Double) -> String {
        let points = share * 100
        let text = abs(points) < 1 ? Figures.twoDigits(points) : Figures.oneDigit(points)
        return text.replacing("-", with: "\u{2212}")
    }

    private func facts(_ sides: [Side]) -> [PageValues] {
        let rows: [(Phrase, (Side) -> String)] = [
            (.columnState, { catalogue.state($0.progress.state) }),
            (.factApplications, { $0.applications.joined(separator: ", ") }),
            (.columnCategory, { $0.progress.category ?? "" }),
            (.funnelTarget, { target($0) }),
            (.factStarted, { $0.progress.startedAt.map { Figures.minute($0) } ?? "" }),
            (.factFinished, { $0.progress.finishedAt.map { Figures.minute($0) } ?? "" }),
            (.factDuration, { duration($0.progress) }),
        ]
        return rows.map { phrase, text -> PageValues in
            let shown = sides.map { side in Figures.$zone.withValue(side.clock) { text(side) } }
            return ["name": .text(catalogue[phrase]), "first": .text(shown[0]), "second": .text(shown[1])]
        }
    }

    private func target(_ side: Side) -> String {
        DeliveryWords(row: side.progress, catalogue: catalogue, lastCount: side.lastCount).target
    }

    private func duration(_ row: DeliveryProgress) -> String {
        guard let started = row.startedAt else { return "" }
        let end = row.finishedAt ?? row.now
        return Figures.duration(Double(end.microsecondsSince1970 - started.microsecondsSince1970) / 1e6)
    }

    /// The texts that at least one of them has, those that differ first.
    private func texts(_ sides: [Side]) -> [PageValues] {
        let places = Set(sides.flatMap(\.content.keys)).sorted()
        let rows = places.map { place in
            (place: place, first: sides[0].content[place] ?? "", second: sides[1].content[place] ?? "")
        }
        return (rows.filter { $0.first != $0.second } + rows.filter { $0.first == $0.second }).map { row in
            [
                "name": .text(row.place), "first": .text(row.first), "second": .text(row.second),
                "isSame": .flag(row.first == row.second),
            ]
        }
    }
}
