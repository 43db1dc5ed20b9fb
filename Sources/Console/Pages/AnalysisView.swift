import PushCore
import Store

/// The analysis of a delivery that has not begun, on the delivery's page.
struct AnalysisView {
    let read: AnalysisFacts
    /// The messages that are never sent, because the local time of their recipients is over at the start.
    let late: Int64
    let catalogue: Catalogue

    /// The rows of a table: the largest numbers.
    private static let maxRows = 10
    private static let waveID = "wave"

    private var analysis: DeliveryAnalysisRow { read.analysis }
    private var counts: [DeliveryCountRow] { read.counts }

    private var isRunning: Bool { analysis.state == .analysing && !analysis.isFinished }

    /// Whether it has numbers. They stay when its messages are dropped.
    private var hasNumbers: Bool { analysis.finishedAt != nil }

    /// Whether there is nothing to show.
    var isEmpty: Bool { !isRunning && !hasNumbers && analysis.remadeBecause.isEmpty }

    /// From when the numbers are, if its messages are no longer prepared.
    private var note: String {
        guard let counted = analysis.finishedAt, !analysis.isFinished else { return catalogue[.analysisNote] }
        return catalogue.text(.analysisKept, Figures.minute(counted))
    }

    var values: PageValues {
        let samples = self.samples
        var values: PageValues = [
            "isRunning": .flag(isRunning), "hasNumbers": .flag(hasNumbers), "note": .text(note),
            // A start that is planned ahead is no fault, and the note says enough of it.
            "isDropped": .flag(!analysis.remadeBecause.isEmpty && !(analysis.wasTooOld && hasNumbers)),
            "why": .text(Figures.inZone(analysis.remadeBecause)),
            "analysisFacts": .list(facts), "groups": .list(groups), "samples": .list(samples),
            "hasSamples": .flag(!samples.isEmpty),
        ]
        if let leftOut = read.leftOut {
            values["leftOut"] = .group(["reasons": .list(leftOut.counts.map { reason($0, leftOut) })])
            if !leftOut.holders.largest.isEmpty { values["held"] = .group(held(leftOut.holders)) }
        }
        return values
    }

    /// Why people were left out, and by which frequency caps.
    private func reason(_ row: BoundedCount, _ leftOut: AnalysisFacts.LeftOut) -> PageValues {
        let count = Figures.count(row.count)
        let caps = row.name == AnalysisFacts.capReason ? catalogue.facts(of: leftOut.caps).map { $0.value } : []
        let meaning = (catalogue.reason(row.name) ?? row.name).capitalisedFirst
        return [
            "reason": .text(([meaning] + caps).joined(separator: ". ")),
            "count": .text(leftOut.isPartial ? catalogue.text(.atLeast, count) : count),
        ]
    }

    /// The deliveries that hold a frequency cap and have not left.
    private func held(_ holders: CapHolders) -> PageValues {
        let rows = holders.largest.map { holder -> PageValues in
            let count = catalogue.text(.capHolder, count: holder.messages, Figures.count(holder.messages))
            return [
                "holderID": .text("\(holder.delivery)"), "holderName": .text(holder.label),
                "holderWords": .text("\(count) · \(holder.caps.joined(separator: ", "))"),
            ]
        }
        let others = holders.count - Int64(rows.count)
        return [
            "words": .text(catalogue[.capHeld]), "holders": .list(rows), "remedy": .text(catalogue[.capHeldRemedy]),
            "others": .text(others > 0 ? catalogue.text(.capHeldOthers, count: others, Figures.count(others)) : ""),
            "hasOthers": .flag(others > 0),
        ]
    }

    /// How many payloads were made of how many messages. What an experiment decides later is made in each variant.
    private var rendered: String {
        let words: Phrase = analysis.rendered > analysis.messages ? .analysisRenderedEach : .analysisRenderedOf
        return catalogue.text(words, Figures.count(analysis.rendered), Figures.count(analysis.messages))
    }

    private var facts: [PageValues] {
        var pairs: [(Phrase, String)] = [(.columnMessages, Figures.count(analysis.messages))]
        if late > 0 { pairs.append((.lateMessages, Figures.count(late))) }
        pairs.append((.exclusionsTitle, Figures.count(analysis.excluded)))
        pairs.append((.analysisRendered, rendered))
        if let smallest = analysis.smallest, let largest = analysis.largest {
            let (least, most) = (Figures.count(Int64(smallest)), Figures.count(Int64(largest)))
            pairs.append((.analysisSizes, catalogue.text(.analysisBytes, least, most)))
        }
        pairs.append((.analysisRefused, Figures.count(analysis.refused)))
        if let seconds = analysis.seconds { pairs.append((.analysisTakes, Figures.duration(seconds))) }
        if let end = analysis.endsAt { pairs.append((.analysisEnds, Figures.minute(end))) }
        pairs.append(bound ?? (.columnLimit, analysis.limitedBy ?? catalogue[.settingRateUsual]))
        let variants = analysis.sizesByVariant.map { sizes -> PageValues in
            let (least, most) = (sizes.smallest ?? 0, sizes.largest ?? 0)
            let bytes = catalogue.text(.analysisBytes, Figures.count(Int64(least)), Figures.count(Int64(most)))
            return ["name": .text("\(catalogue[.analysisSizes]): \(sizes.variant ?? "")"), "value": .text(bytes)]
        }
        return pairs.map { pair -> PageValues in ["name": .text(catalogue[pair.0]), "value": .text(pair.1)] } + variants
    }

    /// What of its plan begins last, if that decides when the last message leaves.
    private var bound: (Phrase, String)? {
        guard let bound = analysis.bound, let time = bound.localTime, let zone = bound.timeZone else { return nil }
        let moment = Figures.local(time, zone)
        let words: String? =
            switch bound.kind {
            case .rate: nil
            case .zone: catalogue.text(.boundZone, bound.name, moment)
            case .hours: catalogue.text(.boundHours, bound.name, moment)
            case .wave: catalogue.text(.boundWave, bound.name, moment)
            case .winner: catalogue.text(.boundWinner, moment)
            }
        return words.map { (.columnWhy, $0) }
    }

    private var groups: [PageValues] {
        let tables: [(id: String, title: Phrase, key: KeyPath<DeliveryCountRow, String>)] = [
            ("application", .byApplicationTitle, \.application), ("locale", .byLocaleTitle, \.locale),
            ("zone", .byTimeZoneTitle, \.timeZone),
        ]
        let waves: [(id: String, title: Phrase, key: KeyPath<DeliveryCountRow, String>)] =
            counts.contains { $0.wave > 0 } ? [(Self.waveID, .byWaveTitle, \.waveName)] : []
        return (tables + waves).map { table -> PageValues in
            var sums = counts.sums(by: table.key)
            // Waves follow each other.
            if table.id == Self.waveID { sums.sort { (Int($0.name) ?? 0) < (Int($1.name) ?? 0) } }
            let rows = sums.prefix(Self.maxRows).map { row -> PageValues in
                [
                    "name": .text(row.name.isEmpty ? catalogue[.nobodyKnown] : row.name),
                    "count": .text(Figures.count(row.messages)),
                ]
            }
            return [
                "groupID": .text(table.id), "groupTitle": .text(catalogue[table.title]), "rows": .list(rows),
            ]
        }
    }

    private var samples: [PageValues] {
        let samples = try? JSONBody.decode([AnalysisFindings.Sample].self, from: analysis.samples.utf8)
        return (samples ?? []).map { sample -> PageValues in
            var values: PageValues = [
                "application": .text(sample.application), "subscription": .text("\(sample.subscriptionID)"),
                "size": .text(Figures.count(Int64(sample.bytes))), "limit": .text(Figures.count(Int64(sample.limit))),
                "payload": .text(sample.payload),
            ]
            let shown = [sample.variant ?? "", sample.locale].filter { !$0.isEmpty }
            if !shown.isEmpty { values["variant"] = .text(shown.joined(separator: ", ")) }
            return values
        }
    }
}
