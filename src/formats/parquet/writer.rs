//! Writes rows as a Parquet file, a row group at a time.

use super::columns::{COLUMNS, Column, Kind, Source, VERSION, Value};
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::ColumnPath;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

/// The columns with the messages themselves: too long for a dictionary, and of no use in statistics.
const PAYLOADS: [&str; 2] = ["payload", "payload_bytes"];

/// A file. What is complete is passed on after each row group.
pub(super) struct TableWriter(SerializedFileWriter<Vec<u8>>);

impl TableWriter {
    /// Begins a file. `facts` go into its metadata.
    pub(super) fn begin(facts: &[(&str, &str)]) -> io::Result<Self> {
        let version = [("mcpreel.columns", VERSION)];
        let metadata = version
            .iter()
            .chain(facts)
            .map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned()))
            .collect();
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("mcpreel version {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata(Some(metadata));
        for column in PAYLOADS.map(ColumnPath::from) {
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_statistics_enabled(column, EnabledStatistics::None);
        }
        let schema = parse_message_type(&schema()).map_err(failed)?;
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build())).map(Self).map_err(failed)
    }

    /// Writes rows as a row group.
    pub(super) fn group(&mut self, rows: &[Source<'_>], out: &mut dyn Write) -> io::Result<()> {
        let mut group = self.0.next_row_group().map_err(failed)?;
        for column in COLUMNS {
            let Some(mut writer) = group.next_column().map_err(failed)? else { break };
            write_column(column, rows, &mut writer).map_err(failed)?;
            writer.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        self.0.flush()?;
        out.write_all(self.0.inner())?;
        self.0.inner_mut().clear();
        Ok(())
    }

    /// Writes the end of the file.
    pub(super) fn end(self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.0.into_inner().map_err(failed)?)
    }
}

fn write_column(
    column: &Column,
    rows: &[Source<'_>],
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let mut levels = Vec::with_capacity(rows.len());
    let values = rows.iter().filter_map(|row| {
        let value = (column.value)(row);
        levels.push(i16::from(value.is_some()));
        value
    });
    let (mut texts, mut numbers, mut doubles, mut bools) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for value in values {
        match value {
            Value::Text(text) => texts.push(ByteArray::from(text)),
            Value::Number(number) => numbers.push(number),
            Value::Double(number) => doubles.push(number),
            Value::Bool(bool) => bools.push(bool),
        }
    }
    let levels = (!column.is_required).then_some(&levels[..]);
    match column.kind {
        Kind::Text | Kind::Bytes => writer.typed::<ByteArrayType>().write_batch(&texts, levels, None),
        Kind::Integer | Kind::Time => writer.typed::<Int64Type>().write_batch(&numbers, levels, None),
        Kind::Double => writer.typed::<DoubleType>().write_batch(&doubles, levels, None),
        Kind::Bool => writer.typed::<BoolType>().write_batch(&bools, levels, None),
    }
    .map(drop)
}

/// The columns as Parquet's schema language has them.
fn schema() -> String {
    let mut text = "message mcpreel {".to_owned();
    for column in COLUMNS {
        let presence = if column.is_required { "required" } else { "optional" };
        let (kind, logical) = match column.kind {
            Kind::Text => ("byte_array", " (string)"),
            Kind::Bytes => ("byte_array", ""),
            Kind::Integer => ("int64", ""),
            Kind::Double => ("double", ""),
            Kind::Bool => ("boolean", ""),
            Kind::Time => ("int64", " (timestamp(micros,true))"),
        };
        // Writing to a string does not fail.
        let _ = write!(text, " {presence} {kind} {}{logical};", column.name);
    }
    text + " }"
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
