//! The points of a curve as comma-separated values.

use super::leg_name;
use crate::parts::ledger::counts;
use filestone_measure::measure::curve_record::{CurvePointRecord, CurveRecord};

/// Formats the points as comma-separated values, with units in the names of the columns.
pub fn csv(curve: &CurveRecord) -> String {
    let mut text = String::from(
        "leg,offered_load_ops_per_s,achieved_load_ops_per_s,scheduled,ok,failed,timed_out,\
         disconnected,skipped,in_flight_at_end,response_time_mean_ns,\
         response_time_mean_half_width_ns,response_time_min_ns,response_time_p50_ns,\
         response_time_p90_ns,response_time_p95_ns,response_time_p99_ns,response_time_p99_9_ns,\
         response_time_max_ns,service_time_mean_ns,service_time_p50_ns,service_time_p99_ns,\
         in_flight_mean,start_ns,end_ns,warm_up_ns,is_steady,kept_up\n",
    );
    for point in &curve.points {
        text.push_str(&row(point));
    }
    text
}

fn row(point: &CurvePointRecord) -> String {
    let response = &point.response_time_ns;
    let timed = |text: String| {
        if response.count == 0 {
            String::new()
        } else {
            text
        }
    };
    let mut columns = vec![
        leg_name(point.leg).to_string(),
        format!("{:.3}", point.offered_load_ops_per_s),
        format!("{:.3}", point.achieved_load_ops_per_s),
    ];
    columns.extend(counts(&point.ledger).map(|count| count.to_string()));
    columns.push(timed(format!("{:.1}", response.mean)));
    let half_width = point.response_time_mean_half_width_ns;
    columns.push(half_width.map_or_else(String::new, |nanos| format!("{nanos:.1}")));
    columns.extend(
        [
            response.min,
            response.p50,
            response.p90,
            response.p95,
            response.p99,
            response.p99_9,
            response.max,
        ]
        .map(|nanos| timed(nanos.to_string())),
    );
    let service = &point.service_time_ns;
    columns.push(timed(format!("{:.1}", service.mean)));
    columns.extend([service.p50, service.p99].map(|nanos| timed(nanos.to_string())));
    columns.push(format!("{:.4}", point.in_flight_mean));
    columns.extend([point.start_ns, point.end_ns, point.warm_up_ns].map(|nanos| nanos.to_string()));
    columns.extend([point.is_steady, point.kept_up].map(|flag| u8::from(flag).to_string()));
    columns.join(",") + "\n"
}
