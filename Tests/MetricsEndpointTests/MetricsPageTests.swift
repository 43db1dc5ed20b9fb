import Testing

@testable import MetricsEndpoint

/// The declarations, and the text that is made of them.
@Suite struct MetricsPageTests {
    @Test func eachMetricHasOneRow() {
        for metric in Metric.allCases {
            #expect(MetricDefinition.all.filter { $0.metric == metric }.count == 1, "\(metric)")
        }
        #expect(Set(MetricDefinition.all.map(\.name)).count == Metric.allCases.count)
    }

    /// Words that would make a series of each message, device or person.
    @Test func noLabelGrowsWithMessages() {
        let labels = Set(MetricDefinition.all.flatMap(\.labels))
        for label in labels {
            for word in ["delivery", "message", "token", "user", "subscription", "part", "child", "id"] {
                #expect(label != word && !label.hasSuffix("_\(word)"), "\(label)")
            }
        }
        #expect(labels.count > 5)
    }

    @Test func namesSayWhatTheyAre() {
        for row in MetricDefinition.all {
            #expect(row.name.hasPrefix("pushmta_") || row.name.hasPrefix("process_"), "\(row.name)")
            #expect((row.kind == .counter) == row.name.hasSuffix("_total"), "\(row.name)")
            #expect(row.kind != .histogram || row.name.hasSuffix("_seconds"), "\(row.name)")
            #expect(!row.help.isEmpty && !row.action.isEmpty && !row.help.contains("\n"), "\(row.name)")
        }
    }

    @Test func samplesStandInTheOrderOfTheirDeclaration() {
        var page = MetricsPage()
        page.add(.circuit, true, "shop")
        page.add(.maxChildren, 7)
        page.add(.databaseUp, false)
        let names = page.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            names == ["pushmta_database_up 0", "pushmta_max_children 7", #"pushmta_circuit_state{app="shop"} 1"#]
        )
    }

    /// A name is whatever somebody chose, and ends neither its label nor its line.
    @Test func valuesOfLabelsAreEscaped() {
        var page = MetricsPage()
        page.add(.circuit, 1, "a\"b\\c\nd\u{7}é")
        #expect(page.text.hasSuffix("pushmta_circuit_state{app=\"a\\\"b\\\\c\\nd é\"} 1\n"), "\(page.text)")
    }

    @Test func histogramsAreCumulative() {
        var page = MetricsPage()
        page.add(.databaseSeconds, bounds: [0.5, 1], counts: [3, 0, 2], sum: 7.25, "store")
        let lines = page.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            lines == [
                #"pushmta_database_seconds_bucket{operation="store",le="0.5"} 3"#,
                #"pushmta_database_seconds_bucket{operation="store",le="1"} 3"#,
                #"pushmta_database_seconds_bucket{operation="store",le="+Inf"} 5"#,
                #"pushmta_database_seconds_sum{operation="store"} 7.25"#,
                #"pushmta_database_seconds_count{operation="store"} 5"#,
            ]
        )
    }

    @Test func numbersAreInPrometheusForm() {
        var page = MetricsPage()
        page.add(.processCPU, 0.25)
        page.add(.processStart, 1_700_000_000.0)
        page.add(.credentialExpiry, -.infinity, "a")
        #expect(page.text.contains("\nprocess_cpu_seconds_total 0.25\n"))
        #expect(page.text.contains("\nprocess_start_time_seconds 1700000000\n"))
        #expect(page.text.contains("} -Inf\n"))
    }
}
