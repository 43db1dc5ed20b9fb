import Store

/// The charts of a delivery's page: what became of its messages, and what devices and people did with them, over time.
struct DeliveryCharts {
    let timeline: DeliveryTimeline
    let catalogue: Catalogue

    var values: PageValues {
        let outcomes: [TimelineChart.Measure] = [
            .init(name: catalogue[.legendSent], style: "s-sent") { $0.sent },
            .init(name: catalogue[.legendFailed], style: "s-failed") { $0.failed },
            .init(name: catalogue[.legendOther], style: "s-other") { $0.other },
        ]
        let reactions: [TimelineChart.Measure] = [
            .init(name: catalogue[.funnelReceived], style: "s-received") { $0.received },
            .init(name: catalogue[.funnelClicked], style: "s-clicked") { $0.clicked },
        ]
        // Minutes of folded parts are gone; hours stay.
        let minutes = timeline.minutes.flatMap { TimelineChart($0, isByMinute: true, measures: outcomes) }
        let charts = [
            (minutes ?? TimelineChart(timeline.hours, isByMinute: false, measures: outcomes))
                .map { shown($0, id: "outcomes", .chartOutcomes, note: catalogue[.failuresNote]) },
            // Who clicks has received it, too.
            TimelineChart(timeline.hours, isByMinute: false, measures: reactions, isStacked: false)
                .map { shown($0, id: "reactions", .chartReactions, note: catalogue[.funnelNote]) },
        ]
        return ["charts": .list(charts.compactMap(\.self))]
    }

    private func shown(_ chart: TimelineChart, id: String, _ title: Phrase, note: String) -> PageValues {
        let busiest = chart.busiest
        let words = catalogue.text(scale(chart.unit), timeline.zone)
        let most = catalogue.text(.chartBusiest, busiest.begins, Figures.count(busiest.count))
        let legend = zip(chart.measures, chart.totals).map { measure, total -> PageValues in
            ["name": .text(measure.name), "style": .text(measure.style), "total": .text(Figures.count(total))]
        }
        let rows = chart.rows.map { row -> PageValues in
            let counts = zip(chart.measures, row.counts).map { measure, count -> PageValues in
                ["name": .text(measure.name), "count": .text(Figures.count(count))]
            }
            return ["begins": .text(row.begins), "counts": .list(counts)]
        }
        return [
            "chartID": .text(id), "chartTitle": .text(catalogue[title]), "legend": .list(legend),
            "chart": .drawing(chart.markup("\(catalogue[title]). \(words) \(most)")),
            "chartTop": .text(Figures.short(chart.top)), "chartUnit": .text(catalogue[unit(chart.unit)]),
            "from": .text(chart.ends.first), "to": .text(chart.ends.last),
            "chartWords": .text("\(words) \(most) \(note)"), "chartRows": .list(rows),
        ]
    }

    /// What the axis shows; the place is the time zone.
    private func scale(_ unit: TimelineChart.Unit) -> Phrase {
        switch unit {
        case .minute: .chartByMinute
        case .hour: .chartByHour
        case .day: .chartByDay
        case .week: .chartByWeek
        }
    }

    private func unit(_ unit: TimelineChart.Unit) -> Phrase {
        switch unit {
        case .minute: .perMinute
        case .hour: .perHour
        case .day: .perDay
        case .week: .perWeek
        }
    }
}
